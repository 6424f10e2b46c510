import sql from "sql-template-tag";
import { type MemoryChange, recordChanges } from "../memories/changes/record-changes.js";
import { settleConsents } from "../memories/guard/consent-statements.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { hideMemories } from "../memories/write/memory-states.js";
import { removeResting } from "../memories/write/remove-resting.js";
import type { Connection } from "../postgres/connection.js";
import { retryOn } from "../postgres/retry.js";
import type { Runtime } from "../runtime.js";
import type { OwnerRef, Scope, ThreadAddress } from "../scope/scope.js";
import { lockOwner, scopeColumns, threadIs } from "../scope/scope-predicates.js";
import {
  type ChangedThread,
  findCoveringEpisodes,
  findCoveringNotes,
  findRestingConsents,
  findRestingFacts,
  partSources,
} from "./resting-memories.js";

export type EditRuntime = Pick<
  Runtime<{ readonly lifecycle: { readonly purgeAfterMs: number } }>,
  "db" | "config" | "embedder"
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
    const closing = { ownerRef: owner.ref, scope, threadId, thread, unread: null };
    return (await closeResting(deps, tx, closing)).isAnything;
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

interface Closing {
  readonly ownerRef: OwnerRef;
  readonly scope: Scope;
  readonly threadId: string;
  readonly thread: ChangedThread;
  /** Where extraction reads on; null: where it is. */
  readonly unread: number | null;
  /** @default "edit" */
  readonly actor?: string | undefined;
}

const reason = "The message that it was learned from was edited.";

/**
 * Closes the facts, episodes and notes of a locked owner that rest on changed messages, so that
 * they can be restored, and fails the summaries that cover one. Returns which memories.
 */
export async function closeResting(
  deps: EditRuntime,
  tx: Connection,
  { ownerRef, scope, threadId, thread, unread, actor = "edit" }: Closing,
): Promise<{ readonly isAnything: boolean; readonly memoryIds: readonly string[] }> {
  if (thread.messages.length === 0) return { isAnything: false, memoryIds: [] };
  const how = {
    vectors: deps.embedder !== null,
    purgeAfterMs: deps.config.lifecycle.purgeAfterMs,
  };
  const hide = async (ofOwner: OwnerRef, memories: readonly MemoryItem[]) => {
    const hidden = await hideMemories(
      tx,
      { ...how, ownerRef: ofOwner, event: "UPDATE" },
      memories,
      () => ({ reason }),
    );
    return hidden.map((change): MemoryChange => ({ ...change, threadId }));
  };
  const facts = await findRestingFacts(tx, ownerRef, thread, ["active"]);
  const episodes = await findCoveringEpisodes(tx, ownerRef, thread, ["active"]);
  const own = await hide(ownerRef, [...facts, ...episodes]);
  const removed = facts.map(({ id }) => id);
  const insights =
    removed.length === 0 ? [] : await removeResting(tx, { ...how, ownerRef, removed });
  const changes = [...own, ...insights];
  if (changes.length > 0)
    await recordChanges(tx, { ownerRef, scope, actor, step: "remember", changes });
  await partSources(tx, ownerRef, thread);
  const waiting = await findRestingConsents(tx, ownerRef, threadId, thread);
  const superseded = {
    status: "superseded",
    actor,
    via: null,
    evidence: null,
    memoryId: null,
  } as const;
  await settleConsents(
    tx,
    waiting.map((id) => ({ id, ...superseded })),
  );
  const notes = await findCoveringNotes(tx, thread, ["active"]);
  for (const { ownerRef: app, scope: ofApp, note } of notes) {
    // An app's notes are another owner's.
    await lockOwner(tx, ofApp);
    const noted = await hide(app, [note]);
    await recordChanges(tx, {
      ownerRef: app,
      scope: ofApp,
      actor,
      step: "remember",
      changes: noted,
    });
  }
  const summaries = await failSummaries(tx, thread);
  const untils = {
    facts: unread,
    episodes: before(episodes.flatMap(({ turns }) => turns?.start ?? [])),
    notes: before(notes.map(({ first }) => first)),
  };
  await restartWork(tx, thread, untils);
  const memoryIds = [
    ...changes.map(({ memoryId }) => memoryId),
    ...notes.map(({ note }) => note.id),
  ];
  return { isAnything: memoryIds.length + waiting.length + summaries > 0, memoryIds };
}

const before = (places: readonly number[]) =>
  places.length === 0 ? null : Math.min(...places) - 1;

/** Each summary continues the one before, so all that end after a changed message contain it. */
export async function failSummaries(tx: Connection, { threadRef, messages }: ChangedThread) {
  const first = Math.min(...messages.map(({ seq }) => seq));
  const failed = await tx.query(sql`
    update ${tx.schema}.summary s set status = 'failed', content = null
    where s.thread_ref = ${threadRef} and s.end_seq >= ${first} and (s.status <> 'failed' or s.content is not null)
    returning s.id`);
  return failed.length;
}

/**
 * The thread's work starts again after `untils`, and its workers lose their lease: they may have read
 * the old words.
 */
export async function restartWork(
  tx: Connection,
  { threadRef }: ChangedThread,
  untils: Readonly<Record<"facts" | "episodes" | "notes", number | null>>,
): Promise<void> {
  const { schema } = tx;
  await tx.query(sql`
    update ${schema}.work k
    set done_until = least(k.done_until, r.until), lease = k.lease + 1, lease_until = null, progress = null, attempts = 0,
      error = null, retry_at = case
        -- The next turn makes another summary.
        when k.kind = 'summaries' then null
        when k.done_until > r.until or k.lease_until is not null then n.now else k.retry_at
      end
    from (values
      ('facts', ${untils.facts}::bigint), ('episodes', ${untils.episodes}::bigint), ('notes', ${untils.notes}::bigint),
      ('summaries', coalesce((
        select max(s.end_seq) from ${schema}.summary s where s.thread_ref = ${threadRef} and s.status = 'completed'
      ), -1))
    ) r (kind, until) cross join (select ${tx.now()} as now) n
    where k.thread_ref = ${threadRef} and k.kind = r.kind and k.given_up_at is null`);
}
