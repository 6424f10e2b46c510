import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasScope } from "../scope/erasure-scope.js";
import { isId } from "../scope/scope-predicates.js";

/** A thread of a scope. */
export interface ErasableThread {
  readonly ref: string;
  readonly threadId: string;
  /** The thread id that its checkpoints are kept under; null where `memory.checkpointer()` was never asked for them. */
  readonly checkpointThreadId: string | null;
}

const columns = (db: Connection) => sql`x.id::text as ref, x.thread_id as "threadId",
  (select c.name from ${db.schema}.thread_claim c where c.thread_ref = x.id) as "checkpointThreadId"`;

/** Locks up to `limit` of the scope's threads against whoever records in them, not against memories that name them. */
export async function lockErasableThreads(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<ErasableThread[]> {
  return tx.query<ErasableThread & Record<string, unknown>>(sql`
    select ${columns(tx)} from ${tx.schema}.thread x
    where ${hasScope(scope)} order by x.id limit ${limit} for no key update`);
}

/** Up to `limit` of the scope's threads after the one with `after` as ref, in their order. @default all */
export async function findErasableThreads(
  db: Connection,
  scope: ErasureScope,
  { after = "0", limit = null }: { after?: string; limit?: number | null } = {},
): Promise<ErasableThread[]> {
  return db.query<ErasableThread & Record<string, unknown>>(sql`
    select ${columns(db)} from ${db.schema}.thread x
    where ${hasScope(scope)} and x.id > ${after}::bigint order by x.id limit ${limit}`);
}

/** The threads with this id, of whatever tenants. */
export async function findThreadsOfId(db: Connection, threadId: string): Promise<ErasableThread[]> {
  return db.query<ErasableThread & Record<string, unknown>>(sql`
    select ${columns(db)} from ${db.schema}.thread x
    where ${isId(sql`x.thread_id`, threadId)}`);
}

/** Deletes locked threads. Returns how many. */
export async function eraseThreads(tx: Connection, threads: readonly ErasableThread[]): Promise<number> {
  const rows = await tx.query(sql`
    delete from ${tx.schema}.thread where id = any (${threads.map(({ ref }) => ref)}::bigint[]) returning id`);
  return rows.length;
}
