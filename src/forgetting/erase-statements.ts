import sql, { empty } from "sql-template-tag";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { changeOf, wordlessLine } from "../memories/changes/memory-change.js";
import { changedSources } from "../memories/item/index-rows.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasMemory, hasScope, threadsOf } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import {
  type ErasureTable,
  eraseRows,
  memoryRecordTables,
  noKeys,
  type RowCounts,
} from "./erasure-tables.js";

export interface ErasableMemory {
  readonly ref: string;
  readonly id: string;
  readonly category: string;
  readonly importance: number;
  readonly active: boolean;
}

/**
 * At most `limit` memories in any state. Insights come before their evidence, by which they are
 * found.
 */
export function findErasableMemories(tx: Connection, scope: ErasureScope, limit: number) {
  return tx.query<ErasableMemory & Record<string, unknown>>(sql`
    select x.ref::text as ref, x.id, x.category, x.importance, x.state = 'active' as active
    from ${tx.schema}.memory x where ${hasMemory(tx, scope)} 
    order by x.kind = 'insight' desc, x.ref limit ${limit}`);
}

/** Memories of an owner in any state, in the order of `ids`. */
export function findErasableByIds(tx: Connection, ownerRef: string, ids: readonly string[]) {
  return tx.query<ErasableMemory & Record<string, unknown>>(sql`
    select m.ref::text as ref, m.id, m.category, m.importance, m.state = 'active' as active
    from ${tx.schema}.memory m where m.owner_ref = ${ownerRef}::bigint and m.id = any (${ids}::uuid[])
    order by array_position(${ids}::uuid[], m.id)`);
}

/** At most `limit` items of LangGraph's store, locked against writes to them and their vectors. */
export async function findErasableItems(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ ref: string }>(sql`
    select x.ref::text as ref from ${tx.schema}.store_item x where ${hasScope(scope)}
    order by x.item limit ${limit} for update`);
  return rows.map(({ ref }) => ref);
}

export interface AuditEntry {
  readonly actor: string;
  readonly reason?: string | undefined;
}

export const forgetting: AuditEntry = { actor: "forget" };

async function recordErased(
  tx: Connection,
  { owner: scope, ownerRef, found }: FoundMemories,
  ids: readonly string[],
  { actor, reason }: AuditEntry,
): Promise<void> {
  const gone = { state: "purged", ...(reason !== undefined && { reason }) };
  await tx.query(sql`
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    where c.owner_ref = ${ownerRef}::bigint and c.memory_id = any (${ids}::uuid[])`);
  const changes = found.map(({ active, ...memory }) =>
    changeOf({ ...memory, text: "" }, "DELETE", { new: gone, as: active ? "deleted" : null }),
  );
  await applyChanges(tx, { ownerRef: Number(ownerRef), scope, actor, step: "forget" }, { changes });
}

/**
 * Clears references to the thread, and quotes from it, in rows that stay. The audit trail keeps who
 * decided what.
 */
export async function forgetWords(
  tx: Connection,
  scope: ErasureScope,
  threadId: string,
): Promise<void> {
  const { ownerRef } = scope;
  if (ownerRef === null) return;
  await tx.query(sql`
    with parted as (
      update ${tx.schema}.memory x set thread_ref = null, source_seqs = '{}', evidence = null
      where x.thread_ref in (${threadsOf(tx, scope)})
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
    update ${tx.schema}.history h
    set new = case when h.new #>> '{evidence,threadId}' = ${threadId} then jsonb_set(h.new, '{evidence}', 'null') else h.new end
      - case when h.new #>> '{source,threadId}' = ${threadId} then 'source' else '' end
    where h.owner_ref = ${ownerRef}::bigint
      and ${threadId} in (h.new #>> '{evidence,threadId}', h.new #>> '{source,threadId}')`);
}

async function subtractMemories(
  tx: Connection,
  ownerRef: string,
  memories: readonly string[],
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.owner o
    set memory_count = o.memory_count - gone.count, memory_length = o.memory_length - gone.length
    from (
      select count(*) as count, coalesce(sum(t.length), 0) as length
      from ${tx.schema}.memory m
      left join lateral (
        select max(t.length) as length from ${tx.schema}.memory_term t where t.memory_ref = m.ref
      ) t on true
      where m.ref = any (${memories}::bigint[]) and m.state = 'active'
    ) gone
    where o.id = ${ownerRef}`);
}

/** Deletes at most `limit` messages of locked threads, and subtracts them from the counts. */
export async function eraseMessages(
  tx: Connection,
  { threads, limit }: { threads: readonly string[]; limit: number },
): Promise<{ message: number; message_term: number }> {
  const { schema } = tx;
  const [row] = await tx.query<{ message: number; message_term: number }>(sql`
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
  return row ?? { message: 0, message_term: 0 };
}

/**
 * Blocks writers of the owner's memories until the transaction ends. False without such an owner.
 */
export async function lockOwnerRow(tx: Connection, ownerRef: string): Promise<boolean> {
  const rows = await tx.query(
    sql`select id from ${tx.schema}.owner where id = ${ownerRef}::bigint for update`,
  );
  return rows.length > 0;
}

export async function isErased(tx: Connection, scope: ErasureScope): Promise<boolean> {
  // A thread has no items.
  const items = scope.thread
    ? empty
    : sql`or exists (select from ${tx.schema}.store_item x where ${hasScope(scope)})`;
  const [row] = await tx.query<{ remains: boolean }>(sql`
    select exists (select from ${tx.schema}.memory x where ${hasMemory(tx, scope)})
      or exists (select from ${tx.schema}.thread x where ${hasScope(scope)}) ${items} as remains`);
  return row?.remains === false;
}

/** Deletes the locked owner of a whole scope if nothing is left. Returns how many. */
export async function eraseOwner(tx: Connection, scope: ErasureScope): Promise<number> {
  const { ownerRef, whole } = scope;
  if (!whole) return 0;
  const rows = await tx.query(sql`
    delete from ${tx.schema}.owner o
    where o.id = ${ownerRef}::bigint
      and not exists (select from ${tx.schema}.memory m where m.owner_ref = o.id)
      and not exists (select from ${tx.schema}.thread t where t.owner_ref = o.id)
      and not exists (select from ${tx.schema}.store_item x where ${hasScope(scope)})
    returning o.id`);
  return rows.length;
}

interface FoundMemories {
  readonly scope: ErasureScope;
  readonly owner: Scope;
  readonly ownerRef: string;
  readonly found: readonly ErasableMemory[];
  /** Includes memories purged before, which left only records. @default the ids of `found` */
  readonly ids?: readonly string[];
  readonly tables: readonly ErasureTable[];
  /**
   * Set if the owner stays: the memories' records are deleted now, with an audit entry without
   * text.
   */
  readonly audit: AuditEntry | null;
}

export const noLimit = 2 ** 31 - 1;

export async function eraseFound(tx: Connection, input: FoundMemories): Promise<RowCounts> {
  const { scope, ownerRef, found, tables, audit, ids = found.map(({ id }) => id) } = input;
  const refs = found.map(({ ref }) => ref);
  const keys = { ...noKeys, memories: sql`${refs}::bigint[]`, memoryIds: sql`${ids}::uuid[]` };
  const all = { keys, scope: { ...scope, ownerRef }, limit: noLimit };
  const records = audit ? await eraseRows(tx, memoryRecordTables, all) : {};
  if (audit) await recordErased(tx, input, ids, audit);
  await subtractMemories(tx, ownerRef, refs);
  return { ...records, ...(await eraseRows(tx, tables, all)) };
}
