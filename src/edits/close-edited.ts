import sql from "sql-template-tag";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { hideMemories } from "../memories/apply/change-set.js";
import type { Connection } from "../postgres/connection.js";
import { retryOn } from "../postgres/retry.js";
import type { Runtime } from "../runtime.js";
import type { ThreadAddress } from "../scope/scope.js";
import { lockOwner, scopeColumns, threadIs } from "../scope/scope-predicates.js";
import type { ChangedThread } from "./resting-memories.js";
import { type Ending, settleResting } from "./settle-resting.js";

export type EditRuntime = Pick<
  Runtime<{ readonly lifecycle: { readonly purgeAfterMs: number } }>,
  "db" | "config"
>;

/** The words of a message in the caller's state, by which its facts still hold or not. */
interface EditedWords {
  readonly messageId: string;
  readonly words: string;
}

/**
 * Closes what rests on the recorded words of edited messages, before a prompt shows it. The new
 * words are recorded at the end of the turn: until then its run may redact them. Returns whether
 * anything was closed.
 */
export async function closeEdited(
  deps: EditRuntime,
  { scope, threadId }: ThreadAddress,
  edits: readonly EditedWords[],
): Promise<boolean> {
  return inTransaction(deps, async (tx) => {
    const owner = await lockOwner(tx, scope);
    const thread = await findChanged(tx, { scope, threadId }, edits);
    const settling = { ownerRef: owner.ref, scope, threadId, thread, actor: "edit", unread: null };
    return (await settleResting(tx, settling, closing(deps))).isAnything;
  });
}

/** Writers of memories lock their owner first, some others a thread. */
export const inTransaction = <Result>(
  { db }: EditRuntime,
  work: (tx: Connection) => Promise<Result>,
): Promise<Result> =>
  retryOn(["40P01"], () => db.transaction(work), {
    most: 10,
    busy: "The change of a message was not recorded: others kept writing to its owner. Try again.",
  });

async function findChanged(
  tx: Connection,
  { scope, threadId }: ThreadAddress,
  edits: readonly EditedWords[],
): Promise<ChangedThread> {
  const { schema } = tx;
  const rows = await tx.query<{
    ref: number;
    id: string;
    seq: number;
    role: string;
    before: string;
  }>(sql`
    select m.thread_ref::float8 as ref, m.message_id as id, m.seq, m.role, m.content as before
    from ${schema}.thread t join ${schema}.message m on m.thread_ref = t.id
    where ${threadIs(scopeColumns(scope).tenantId, threadId)} and m.message_id = any (${edits.map(({ messageId }) => messageId)}::text[])`);
  const words = new Map(edits.map((edit) => [edit.messageId, edit.words]));
  const messages = rows.map(({ ref: _, id, ...message }) => {
    return { ...message, words: words.get(id) ?? "" };
  });
  return { threadRef: rows[0]?.ref ?? 0, messages };
}

const reason = "The message that it was learned from was edited.";

/** Hides memories, so that they can be restored. */
export const closing = ({ config }: EditRuntime): Ending => ({
  states: ["active"],
  async end(tx, { threadId, ...by }, { memories, consents }) {
    const { actor } = by;
    const hidden = hideMemories(memories, config.lifecycle, "UPDATE", () => ({ reason }));
    const changes = hidden.changes.map((change) => ({ ...change, threadId }));
    const settled = consents.map((id) => ({ id, status: "superseded", actor }) as const);
    await applyChanges(tx, { ...by, step: "remember" }, { ...hidden, changes, settled });
  },
});
