import sql, { type Sql } from "sql-template-tag";
import { evidenceLink } from "../memories/apply/change-set.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { findOwned, type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { findQuote } from "../text/find-quote.js";

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

export const seqsOf = ({ messages }: ChangedThread) => messages.map(({ seq }) => seq);

/**
 * Memories of a locked owner, in `states`, that were learned from the changed messages alone, and
 * whose quote these do not contain any more. What an agent wrote in mid-turn has a quote and no seq.
 */
export async function findRestingFacts(
  tx: Connection,
  ownerRef: OwnerRef,
  thread: ChangedThread,
  states: readonly MemoryItem["state"][],
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
  return found.filter(({ source }) => !isStillSaid(thread, source?.quote));
}

const inStates = (states: readonly MemoryItem["state"][]) => sql`m.state = any (${states}::text[])`;

const isStillSaid = ({ messages }: ChangedThread, quote: string | undefined) =>
  quote !== undefined && messages.some(({ words }) => findQuote(words, quote) !== null);

/** Insights that were derived from `facts`. */
export async function findInsights(
  tx: Connection,
  ownerRef: OwnerRef,
  facts: readonly MemoryItem[],
  states: readonly MemoryItem["state"][],
): Promise<MemoryItem[]> {
  if (facts.length === 0) return [];
  return findOwned(
    tx,
    ownerRef,
    sql`${inStates(states)} and m.kind = 'insight' and m.ref in (
      select r.from_ref from ${tx.schema}.relation r join ${tx.schema}.memory e on e.ref = r.to_ref
      where r.relation_type = ${evidenceLink} and e.id = any (${facts.map(({ id }) => id)}::uuid[])
    )`,
  );
}

/** Episodes of the thread from the first changed message on: each continues the one before. */
export async function findCoveringEpisodes(
  tx: Connection,
  ownerRef: OwnerRef,
  thread: ChangedThread,
  states: readonly MemoryItem["state"][],
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
export async function findCoveringNotes(
  tx: Connection,
  thread: ChangedThread,
  states: readonly MemoryItem["state"][],
) {
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
export async function findRestingConsents(
  tx: Connection,
  ownerRef: OwnerRef,
  threadId: string,
  thread: ChangedThread,
): Promise<string[]> {
  const rows = await tx.query<{ id: string; quote: string | null }>(sql`
    select c.id, c.draft #>> '{source,quote}' as quote from ${tx.schema}.consent_request c
    where c.owner_ref = ${ownerRef} and ${restsOnChanged(sql`c.draft`, threadId, thread)}`);
  return rows.flatMap(({ id, quote }) => (isStillSaid(thread, quote ?? undefined) ? [] : id));
}
