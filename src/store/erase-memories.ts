import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { type ErasureScope, hasMemory, threadsOf } from "./erasure-scope.js";
import { wordlessLine } from "./purge-memories.js";

/** A memory that is about to go. */
export interface ErasableMemory {
  readonly ref: string;
  readonly id: string;
  readonly category: string;
  readonly importance: number;
  readonly active: boolean;
}

/** Up to `limit` of the scope's memories, in whatever state. */
export async function findErasableMemories(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<ErasableMemory[]> {
  return tx.query<ErasableMemory & Record<string, unknown>>(sql`
    select x.ref::text as ref, x.id, x.category, x.importance, x.state = 'active' as active
    from ${tx.schema}.memory x where ${hasMemory(tx, scope)} order by x.ref limit ${limit}`);
}

/** Takes the words of memories that are about to go out of the news. */
export async function forgetNews(
  tx: Connection,
  { ownerRef, ids }: { ownerRef: string; ids: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    where c.owner_ref = ${ownerRef}::bigint and c.memory_id = any (${ids}::uuid[])`);
}

/** Takes from the owner's memories that stay what says where they were learned, and in which words. */
export async function forgetSources(tx: Connection, scope: ErasureScope): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.memory x set thread_ref = null, source_seqs = '{}', evidence = null
    where x.thread_ref in (${threadsOf(tx, scope)})`);
}

/** The same of proposals, and the words that decisions rest on. @param threadId whose words. */
export async function forgetConsentSources(
  tx: Connection,
  { ownerRef, threadId }: { ownerRef: string; threadId: string },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.consent_request c
    set draft = case when draft #>> '{source,threadId}' = ${threadId} then draft - 'source' else draft end,
      evidence = case when evidence ->> 'threadId' = ${threadId} then null else evidence end
    where c.owner_ref = ${ownerRef}::bigint
      and ${threadId} in (draft #>> '{source,threadId}', evidence ->> 'threadId')`);
}

/** The same of the audit trail, which keeps who decided and what. @param threadId whose words. */
export async function forgetAuditedWords(
  tx: Connection,
  { ownerRef, threadId }: { ownerRef: string; threadId: string },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.history h set new = jsonb_set(h.new, '{evidence}', 'null')
    where h.owner_ref = ${ownerRef}::bigint and h.event = 'CONSENT' and h.new #>> '{evidence,threadId}' = ${threadId}`);
}

/** Takes memories that are about to go out of their locked owner's counts. One statement. */
export async function discountMemories(
  tx: Connection,
  { ownerRef, memories }: { ownerRef: string; memories: readonly string[] },
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
