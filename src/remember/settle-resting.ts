import sql, { type Sql } from "sql-template-tag";
import { applyChanges } from "../memories/apply/apply-changes.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { findOwned, type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { findInsights } from "../memories/write/hide-memories.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { lockOwner, type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { findQuote } from "../text/find-quote.js";

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
  const resting = { ...settling, states };
  const facts = await findRestingFacts(tx, resting);
  const evidence = facts.map(({ id }) => id);
  const insights = await findInsights(tx, ownerRef, evidence, states);
  const episodes = await findCoveringEpisodes(tx, resting);
  const consents = await findRestingConsents(tx, settling);
  const notes = await findCoveringNotes(tx, resting);

  // Insights come before their evidence, by which they are found.
  const own = [...insights.keys(), ...facts, ...episodes];
  if (own.length + consents.length > 0)
    await end(tx, { ownerRef, scope, threadId, actor }, { memories: own, consents });
  for (const { note, ...of } of notes) {
    // An app's notes are another owner's.
    await lockOwner(tx, of.scope);
    await end(tx, { ...of, threadId, actor }, { memories: [note], consents: [] });
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

/** A recorded message whose words changed, or are about to. */
interface ChangedMessage {
  readonly seq: number;
  readonly role: string;
  /** What it says now; "" for a removed message. */
  readonly words: string;
  /** What it said before. */
  readonly before: string;
}

export interface ChangedThread {
  readonly threadRef: number;
  readonly messages: readonly ChangedMessage[];
}

/** What is looked for, in these states. */
type Resting = Settling & Pick<Ending, "states">;

const inStates = (states: Ending["states"]) => sql`m.state = any (${states}::text[])`;

const seqsOf = ({ messages }: ChangedThread) => messages.map(({ seq }) => seq);

/**
 * Memories of a locked owner, in `states`, that were learned from the changed messages alone, and
 * whose quote these do not contain any more. What an agent wrote in mid-turn has a quote and no seq.
 */
async function findRestingFacts(
  tx: Connection,
  { ownerRef, thread, states }: Resting,
): Promise<MemoryItem[]> {
  const { schema } = tx;
  const before = thread.messages.map((message) => message.before);
  const isChanged = sql`thread_ref = ${thread.threadRef} and s.seq = any (${seqsOf(thread)}::integer[])`;
  const found = await findOwned(
    tx,
    ownerRef,
    sql`${inStates(states)} and m.ref in (
      select s.memory_ref from ${schema}.memory_source s where s.${isChanged}
      union
      select c.ref from ${schema}.memory c
      where c.thread_ref = ${thread.threadRef} and c.source_seqs = '{}' and c.evidence is not null
        and exists (select from unnest(${before}::text[]) b (words) where strpos(b.words, c.evidence) > 0)
    )
    and m.kind not in ('episode', 'note') and m.trust <> 'operator' and not exists (
      select from ${schema}.memory_source s where s.memory_ref = m.ref and (s.${isChanged}) is not true
    )`,
  );
  const isStillSaid = stillSaidIn(thread);
  return found.filter(({ source }) => !isStillSaid(source?.seqs ?? [], source?.quote));
}

/**
 * Whether changed messages at `seqs`, or without any those that said `quote` before, still say it.
 * Not whether another does: 1,000 quotes in 5,000 messages take a minute.
 */
function stillSaidIn({ messages }: ChangedThread) {
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  return (seqs: readonly number[], quote: string | undefined): boolean => {
    if (quote === undefined) return false;
    const sources =
      seqs.length > 0
        ? seqs.flatMap((seq) => bySeq.get(seq) ?? [])
        : messages.filter(({ before }) => before.includes(quote));
    return sources.some(({ words }) => findQuote(words, quote) !== null);
  };
}

/** Episodes of the thread from the first changed message on: each continues the one before. */
function findCoveringEpisodes(
  tx: Connection,
  { ownerRef, thread, states }: Resting,
): Promise<MemoryItem[]> {
  return findOwned(
    tx,
    ownerRef,
    sql`${inStates(states)} and m.kind = 'episode' and m.thread_ref = ${thread.threadRef} and m.turn_end >= (
      select count(*) from ${tx.schema}.message u
      where u.thread_ref = ${thread.threadRef} and u.role = 'user' and u.seq <= ${Math.min(...seqsOf(thread))}
    )`,
  );
}

/** Notes that apps made of a stretch of the thread with a changed message, by app. */
async function findCoveringNotes(tx: Connection, { thread, states }: Resting) {
  const { schema } = tx;
  const rows = await tx.query<ScopeRow & { owner: number; first: number; memory: MemoryJson }>(sql`
    select n.owner_ref::float8 as owner, o.tenant_id, o.user_id, o.app_id, n.start_seq as first, ${memoryJson(tx)} as memory
    from ${schema}.note_source n
    join ${schema}.owner o on o.id = n.owner_ref
    join ${schema}.memory m on m.id = n.memory_id and m.state = any (${states}::text[])
    where n.thread_ref = ${thread.threadRef} and exists (
        select from unnest(${seqsOf(thread)}::integer[]) c (seq) where c.seq between n.start_seq and n.end_seq
      )
      -- An operator's own words stay, even if a conversation said the same.
      and not (m.trust = 'operator' and m.origin in ('operator', 'unknown'))
    order by n.owner_ref, m.ref`);
  return rows.map(({ owner, first, memory, ...scope }) => {
    return { ownerRef: owner, scope: scopeOf(scope), first, note: memoryOf(memory) };
  });
}

/** Whether the source of a draft or entry, as JSON, is changed messages alone. */
export function restsOnChanged(json: Sql, threadId: string, thread: ChangedThread): Sql {
  const before = thread.messages.map((message) => message.before);
  const seqs = sql`${json} #> '{source,seqs}'`;
  return sql`${json} #>> '{source,threadId}' = ${threadId} and (
    ${seqs} = '[]' and exists (
      select from unnest(${before}::text[]) b (words) where strpos(b.words, ${json} #>> '{source,quote}') > 0
    )
    or ${seqs} <> '[]' and ${seqs} <@ to_jsonb(${seqsOf(thread)}::integer[]))`;
}

/** Requests for consent that rest on changed messages alone. */
async function findRestingConsents(
  tx: Connection,
  { ownerRef, threadId, thread }: Settling,
): Promise<string[]> {
  const rows = await tx.query<{ id: string; seqs: number[]; quote: string | null }>(sql`
    select c.id, c.draft #> '{source,seqs}' as seqs, c.draft #>> '{source,quote}' as quote from ${tx.schema}.consent_request c
    where c.owner_ref = ${ownerRef} and ${restsOnChanged(sql`c.draft`, threadId, thread)}`);
  const isStillSaid = stillSaidIn(thread);
  return rows.flatMap(({ id, seqs, quote }) => (isStillSaid(seqs, quote ?? undefined) ? [] : id));
}
