import {
  type RecordConfig,
  type RecordedTurn,
  type RecordInput,
  record,
} from "../conversation/record.js";
import { insertEvents } from "../events/event-log.js";
import { markWork } from "../jobs/work-table.js";
import type { Runtime } from "../runtime.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { closeResting, type EditRuntime, inTransaction } from "./close-edited.js";
import { rewriteMessages } from "./rewrite-messages.js";

type RecordDue = NonNullable<Parameters<typeof record>[2]>;

/**
 * `record`, and the new words of recorded messages that were edited: in a transaction of its own,
 * since few turns have one.
 */
export async function recordTurn(
  deps: EditRuntime & Pick<Runtime<RecordConfig>, "config" | "redactor" | "describer">,
  input: RecordInput,
  due: RecordDue = {},
): Promise<RecordedTurn> {
  const turn = await record(deps, input, due);
  if (turn.edits.length === 0) return turn;
  const { scope, threadId } = input;
  const isRead = await inTransaction(deps, async (tx) => {
    const owner = await lockOwner(tx, scope);
    const thread = await rewriteMessages(tx, { ...turn, ownerRef: owner.ref });
    const said = thread.messages.flatMap(({ seq, role }) => (role === "user" ? seq : []));
    const unread = due.extract && said.length > 0 ? Math.min(...said) - 1 : null;
    if (unread !== null)
      await markWork(tx, { kind: "facts", of: "thread", ref: turn.threadRef }, { from: unread });
    await closeResting(deps, tx, { ownerRef: owner.ref, scope, threadId, thread, unread });
    const event = { scope, threadId, step: "remember", op: "update", status: "ok" } as const;
    await insertEvents(
      tx,
      thread.messages.map(() => ({ ...event, detail: "edited" })),
    );
    return unread !== null;
  });
  // The counts of before include summaries and episodes that are gone.
  const { recorded, closed, extractInMs, edits, messages } = turn;
  const now = await record(deps, { scope, threadId, messages: [] });
  return { ...now, recorded, closed, edits, messages, extractInMs: isRead ? 0 : extractInMs };
}
