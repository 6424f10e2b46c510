import sql from "sql-template-tag";
import { applyChanges } from "../memories/apply/apply-changes.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { findInsights } from "../memories/write/hide-memories.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import {
  type ChangedThread,
  findCoveringEpisodes,
  findCoveringNotes,
  findRestingConsents,
  findRestingFacts,
  seqsOf,
} from "./resting-memories.js";

export interface Settling {
  readonly ownerRef: OwnerRef;
  readonly scope: Scope;
  readonly threadId: string;
  readonly thread: ChangedThread;
  /** For the audit trail. */
  readonly actor: string;
  /** Where extraction reads on; null: where it is. */
  readonly unread: number | null;
}

/** How what rests on changed messages ends: closed, or deleted. */
export interface Ending {
  readonly states: readonly MemoryItem["state"][];
  /** Ends memories, and requests for consent, of one owner: some at least. */
  end(
    tx: Connection,
    of: Pick<Settling, "ownerRef" | "scope" | "threadId" | "actor">,
    resting: { readonly memories: readonly MemoryItem[]; readonly consents: readonly string[] },
  ): Promise<void>;
}

/**
 * Ends the facts, insights, episodes and notes of a locked owner that rest on changed messages,
 * fails the summaries that cover one, and makes the work on the thread start again before them.
 * Returns the ids of the memories, and whether there was anything.
 */
export async function settleResting(
  tx: Connection,
  settling: Settling,
  { states, end }: Ending,
): Promise<{ readonly memoryIds: readonly string[]; readonly isAnything: boolean }> {
  const { ownerRef, scope, threadId, thread, actor, unread } = settling;
  if (thread.messages.length === 0) return { memoryIds: [], isAnything: false };
  const facts = await findRestingFacts(tx, ownerRef, thread, states);
  const evidence = facts.map(({ id }) => id);
  const insights = await findInsights(tx, ownerRef, evidence, states);
  const episodes = await findCoveringEpisodes(tx, ownerRef, thread, states);
  const consents = await findRestingConsents(tx, ownerRef, threadId, thread);
  const notes = await findCoveringNotes(tx, thread, states);

  // Insights come before their evidence, by which they are found.
  const own = [...insights.keys(), ...facts, ...episodes];
  if (own.length + consents.length > 0)
    await end(tx, { ownerRef, scope, threadId, actor }, { memories: own, consents });
  for (const { note, ownerRef, scope } of notes) {
    // An app's notes are another owner's.
    await lockOwner(tx, scope);
    await end(tx, { ownerRef, scope, threadId, actor }, { memories: [note], consents: [] });
  }

  const parted = [{ threadRef: thread.threadRef, seqs: seqsOf(thread) }];
  await applyChanges(tx, { ownerRef, scope, actor, step: "remember" }, { parted });
  const summaries = await failSummaries(tx, thread);
  await restartWork(tx, thread, {
    facts: unread,
    episodes: before(episodes.flatMap(({ turns }) => turns?.start ?? [])),
    notes: before(notes.map(({ first }) => first)),
  });
  const memoryIds = [...own, ...notes.map(({ note }) => note)].map(({ id }) => id);
  return { memoryIds, isAnything: memoryIds.length + summaries > 0 };
}

const before = (places: readonly number[]) =>
  places.length === 0 ? null : Math.min(...places) - 1;

/** Each summary continues the one before, so all that end after a changed message contain it. */
async function failSummaries(tx: Connection, { threadRef, messages }: ChangedThread) {
  const first = Math.min(...messages.map(({ seq }) => seq));
  const failed = await tx.query(sql`
    update ${tx.schema}.summary s set status = 'failed', content = null
    where s.thread_ref = ${threadRef} and s.end_seq >= ${first} and (s.status <> 'failed' or s.content is not null)
    returning s.id`);
  return failed.length;
}

/** Its workers lose their lease: they may have read the old words. */
async function restartWork(
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
