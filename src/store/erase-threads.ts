import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { type ErasureScope, hasScope } from "./erasure-scope.js";

/** A thread of a scope. */
export interface ErasableThread {
  readonly ref: string;
  readonly threadId: string;
}

/** The refs of the scope's threads, as a query. */
export const threadsOf = (db: Connection, scope: ErasureScope): Sql =>
  sql`select x.id from ${db.schema}.thread x where ${hasScope(scope)}`;

/** Locks up to `limit` of the scope's threads against whoever records in them, not against memories that name them. */
export async function lockErasableThreads(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<ErasableThread[]> {
  return tx.query<{ ref: string; threadId: string }>(sql`
    select x.id::text as ref, x.thread_id as "threadId" from ${tx.schema}.thread x
    where ${hasScope(scope)} order by x.id limit ${limit} for no key update`);
}

/** Up to `limit` of the scope's threads after the one with `after` as ref, in their order. */
export async function findThreadIds(
  db: Connection,
  scope: ErasureScope,
  { after, limit }: { after: string; limit: number },
): Promise<ErasableThread[]> {
  return db.query<{ ref: string; threadId: string }>(sql`
    select x.id::text as ref, x.thread_id as "threadId" from ${db.schema}.thread x
    where ${hasScope(scope)} and x.id > ${after}::bigint order by x.id limit ${limit}`);
}

/** Those of `threadIds` that another tenant uses as well: their checkpoints hold the state of both. */
export async function findSharedThreadIds(
  db: Connection,
  { tenantId, threadIds }: { tenantId: string; threadIds: readonly string[] },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select * from ${db.schema}.thread_ids_of_other_tenants(${threadIds}::text[], ${tenantId}) as shared (id)`);
  return rows.map(({ id }) => id);
}

/** Deletes locked threads. Returns how many. */
export async function eraseThreads(tx: Connection, threads: readonly ErasableThread[]): Promise<number> {
  const rows = await tx.query(sql`
    delete from ${tx.schema}.thread where id = any (${threads.map(({ ref }) => ref)}::bigint[]) returning id`);
  return rows.length;
}
