import type { NewMessage } from "../conversation/record-messages.js";
import { markWork } from "../jobs/work-table.js";
import type { Connection } from "../postgres/connection.js";
import type { ThreadAddress } from "../scope/scope.js";
import { closing, type EditRuntime } from "./close-edited.js";
import { rewriteMessages } from "./rewrite-messages.js";
import { settleResting } from "./settle-resting.js";

interface Edits extends ThreadAddress {
  readonly threadRef: number;
  readonly ownerRef: number;
  readonly edits: readonly NewMessage[];
  readonly actor: string;
  /** Whether extraction reads what users say. */
  readonly extracts: boolean;
}

/**
 * Records new words of recorded messages of a locked owner, and closes what rests on the old ones.
 * `count`: how many were others; `isUnread`: whether extraction has to read some.
 */
export async function recordEdits(deps: EditRuntime, tx: Connection, input: Edits) {
  const { threadRef, extracts, ...settling } = input;
  const thread = await rewriteMessages(tx, input);
  const said = thread.messages.flatMap(({ seq, role }) => (role === "user" ? seq : []));
  const unread = extracts && said.length > 0 ? Math.min(...said) - 1 : null;
  if (unread !== null)
    await markWork(tx, { kind: "facts", of: "thread", ref: threadRef }, { from: unread });
  const { memoryIds } = await settleResting(tx, { ...settling, thread, unread }, closing(deps));
  return { memoryIds, count: thread.messages.length, isUnread: unread !== null };
}
