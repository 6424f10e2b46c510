import sql from "sql-template-tag";
import { checkpointNamesOf } from "../../checkpoints/checkpoint-names.js";
import { learnedWords, withoutSource } from "../../memories/audit/snapshot.js";
import { changedSources } from "../../memories/item/index-rows.js";
import type { Connection } from "../../postgres/connection.js";
import {
  type ErasureScope,
  hasMemory,
  hasScope,
  takesNotes,
  threadsOf,
} from "../../scope/erasure-scope.js";
import type { Scope } from "../../scope/scope.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import { eraseThreads, lockErasableThreads } from "../../transcript/list-threads.js";
import { eraseTold } from "../../transcript/told-words.js";
import { eraseMemoryRows, findErasable, forgetting, lockExistingOwner } from "./erase-memories.js";
import {
  addCounts,
  checkpointTables,
  eraseRows,
  itemTables,
  noteSourceTables,
  ofThreads,
  type RowCounts,
  recordTables,
  threadTables,
  totalOf,
} from "./erasure-tables.js";

export interface BatchOptions {
  /** Whose data it is. */
  readonly scope: Scope;
  /** Rows per table and transaction. */
  readonly batchSize: number;
  /** Gets the threads whose checkpoints stay. */
  readonly shared: Set<string>;
}

/** Each batch deletes rows in one transaction. Without a deleted row, nothing is left. */
export type EraseBatch = typeof eraseMemoryBatch;

export const threadsPerBatch = 20;

export async function eraseMemoryBatch(
  tx: Connection,
  erasure: ErasureScope,
  { scope, batchSize }: BatchOptions,
): Promise<RowCounts> {
  const { ownerRef, thread } = erasure;
  if (ownerRef === null) return {};
  // Every writer of memories takes this lock first.
  await lockExistingOwner(tx, ownerRef);
  // Insights come first: they are found by their evidence, which is still there.
  const inOrder = sql`order by x.kind = 'insight' desc, x.ref limit ${batchSize}`;
  const found = await findErasable(tx, sql`${hasMemory(tx, erasure)} ${inOrder}`);
  if (found.length === 0) return {};
  // With a thread alone, its owner stays, with its change log.
  return eraseMemoryRows(tx, { ownerRef, scope, found, audit: thread ? forgetting : null });
}

/** Threads with their messages and checkpoints. */
export async function eraseConversationBatch(
  tx: Connection,
  erasure: ErasureScope,
  { batchSize, shared }: BatchOptions,
): Promise<RowCounts> {
  const { ownerRef, tenantId, thread } = erasure;
  const threads = await lockErasableThreads(tx, erasure, threadsPerBatch);
  if (threads.length === 0) return {};
  const refs = threads.map(({ ref }) => ref);
  const names = await checkpointNamesOf(tx, { tenantId, threads });
  for (const id of names.shared) shared.add(id);
  const dependents = [
    ...checkpointTables(names.own),
    ...ofThreads(threadTables, sql`${refs}::bigint[]`),
  ];
  const counts = await eraseRows(tx, dependents, batchSize);
  addCounts(counts, await eraseMessages(tx, { threads: refs, limit: batchSize }));
  // More rows may be left: the threads go in the batch that finds none.
  if (totalOf(counts) > 0) return counts;
  // The lock is for memories learned there, which lose their thread.
  if (ownerRef !== null) {
    await lockExistingOwner(tx, ownerRef);
    await eraseTold(tx, { ownerRef, threads: refs });
  }
  if (thread) await forgetWords(tx, erasure, thread.threadId);
  // Workers have lost their tasks on these threads, so no more notes follow.
  if (takesNotes(erasure)) addCounts(counts, await eraseNotes(tx, refs, erasure));
  addCounts(counts, await eraseRows(tx, noteSourceTables(sql`${refs}::bigint[]`, null)));
  // Last, since the other rows are found by their thread.
  addCounts(counts, { thread: await eraseThreads(tx, threads) });
  return counts;
}

/** Items of LangGraph's store. */
export async function eraseItemBatch(
  tx: Connection,
  erasure: ErasureScope,
  { batchSize }: BatchOptions,
): Promise<RowCounts> {
  if (erasure.thread) return {};
  // Locked against writes to the items and their vectors.
  const found = await tx.query<{ ref: string }>(sql`
    select x.ref::text as ref from ${tx.schema}.store_item x where ${hasScope(erasure)}
    order by x.item limit ${batchSize} for update`);
  if (found.length === 0) return {};
  return eraseRows(tx, itemTables(sql`${found.map(({ ref }) => ref)}::bigint[]`));
}

/** What is kept about all of these: audit trail, events, use. */
export function eraseRecordBatch(
  tx: Connection,
  erasure: ErasureScope,
  { batchSize }: BatchOptions,
): Promise<RowCounts> {
  const tables = recordTables(erasure);
  if (!erasure.thread) tables.push(...noteSourceTables(sql`'{}'::bigint[]`, erasure.ownerRef));
  return eraseRows(tx, tables, batchSize);
}

/** Deletes at most `limit` messages of locked threads, and subtracts them from the counts. */
async function eraseMessages(
  tx: Connection,
  { threads, limit }: { threads: readonly string[]; limit: number },
): Promise<RowCounts> {
  const { schema } = tx;
  const [row] = await tx.query<RowCounts>(sql`
    with doomed as (
      select thread_ref, seq from ${schema}.message
      where thread_ref = any (${threads}::bigint[]) order by thread_ref, seq limit ${limit}
    ),
    term as (
      delete from ${schema}.message_term t using doomed d where t.thread_ref = d.thread_ref and t.seq = d.seq
      returning t.owner_ref, t.thread_ref, t.seq, t.length
    ),
    gone as (
      delete from ${schema}.message m using doomed d where m.thread_ref = d.thread_ref and m.seq = d.seq
      returning m.thread_ref, m.role
    ),
    turns as (
      update ${schema}.thread t set turns = t.turns - g.turns
      from (select thread_ref, count(*) as turns from gone where role = 'user' group by 1) g
      where t.id = g.thread_ref
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - c.count, message_length = o.message_length - c.length
      from (
        select owner_ref, count(*) as count, sum(length) as length
        from (select owner_ref, max(length) as length from term group by owner_ref, thread_ref, seq) m
        group by owner_ref
      ) c
      where o.id = c.owner_ref
    )
    select (select count(*) from gone)::int as message, (select count(*) from term)::int as message_term`);
  return row ?? {};
}

/**
 * Clears references to the thread, and quotes from it, in rows that stay. The audit trail keeps who
 * decided what.
 */
async function forgetWords(tx: Connection, erasure: ErasureScope, threadId: string): Promise<void> {
  const { ownerRef } = erasure;
  if (ownerRef === null) return;
  await tx.query(sql`
    with parted as (
      update ${tx.schema}.memory x set thread_ref = null, source_seqs = '{}', evidence = null
      where x.thread_ref in (${threadsOf(tx, erasure)})
      returning x.ref, x.thread_ref, x.source_seqs
    ),
    ${changedSources(tx, "parted")}
    select from parted`);
  await tx.query(sql`
    update ${tx.schema}.consent_request c
    set draft = case when draft #>> '{source,threadId}' = ${threadId} then draft - 'source' else draft end,
      evidence = case when evidence ->> 'threadId' = ${threadId} then null else evidence end,
      asked_in = nullif(asked_in, ${threadId})
    where c.owner_ref = ${ownerRef}::bigint
      and ${threadId} in (draft #>> '{source,threadId}', evidence ->> 'threadId', asked_in)`);
  await tx.query(sql`
    update ${tx.schema}.history h set snapshot = ${withoutSource}
    where h.owner_ref = ${ownerRef}::bigint and (h.snapshot ->> 'threadId')::bigint in (${threadsOf(tx, erasure)})`);
  await tx.query(sql`
    update ${tx.schema}.history h
    set new = case when h.new #>> '{evidence,threadId}' = ${threadId} then jsonb_set(h.new, '{evidence}', 'null') else h.new end
      - case when h.new #>> '{source,threadId}' = ${threadId} then ${learnedWords} else '{}' end
    where h.owner_ref = ${ownerRef}::bigint
      and ${threadId} in (h.new #>> '{evidence,threadId}', h.new #>> '{source,threadId}')`);
}

/**
 * Deletes the notes of locked threads, the notes they were merged into, and their audit trail.
 * Locks the apps, and records the deletions for the apps' other threads.
 */
async function eraseNotes(
  tx: Connection,
  threads: readonly string[],
  { ownerRef: forgotten, thread }: ErasureScope,
): Promise<RowCounts> {
  const counts: RowCounts = {};
  // With a whole owner its audit trail goes too.
  const whole = thread ? null : forgotten;
  const apps = await tx.query<ScopeRow & { ownerRef: string; ids: string[] }>(sql`
    select n.owner_ref::text as "ownerRef", o.tenant_id, o.user_id, o.app_id, array_agg(distinct n.memory_id::text) as ids
    from ${tx.schema}.note_source n join ${tx.schema}.owner o on o.id = n.owner_ref
    where n.thread_ref = any (${threads}::bigint[])
      -- An operator's own words stay, even if a conversation said the same.
      and not exists (
        select from ${tx.schema}.memory m where m.owner_ref = n.owner_ref and m.id = n.memory_id and m.trust = 'operator'
          and m.origin in ('operator', 'unknown')
      )
    group by n.owner_ref, o.tenant_id, o.user_id, o.app_id order by n.owner_ref`);
  for (const { ownerRef, ids, ...row } of apps) {
    // Every writer of the app's memories takes this lock first.
    await lockExistingOwner(tx, ownerRef);
    const isNote = sql`x.owner_ref = ${ownerRef}::bigint and x.id = any (${ids}::uuid[]) order by x.ref`;
    const found = await findErasable(tx, isNote);
    const audit = ownerRef === whole ? null : forgetting;
    const notes = { ownerRef, scope: scopeOf(row), found, ids, audit };
    addCounts(counts, await eraseMemoryRows(tx, notes));
    // Reasons for other notes may quote deleted ones.
    await tx.query(sql`
      update ${tx.schema}.history h set new = h.new - 'reason'
      where h.owner_ref = ${ownerRef}::bigint and h.actor = 'worker:compaction' and h.new ? 'reason'`);
  }
  return counts;
}
