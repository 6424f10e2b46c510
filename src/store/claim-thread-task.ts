import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** Background work on a thread: extracting facts from what its user says, compressing its older turns. */
export type ThreadTask = "extract" | "compress";

/**
 * The right to do a thread's task, held until the lease runs out.
 *
 * `doneUntil` and `attempt` together fence it: one of them changes with every claim and every success, so a
 * worker whose lease ran out can no longer write.
 */
export interface ThreadTaskClaim {
  readonly threadRef: number;
  readonly task: ThreadTask;
  /** extract: last seq whose facts were extracted. compress: last turn that was compressed. */
  readonly doneUntil: number;
  /** 1 for the first try. */
  readonly attempt: number;
}

/**
 * Claims a thread's task if it is due: marked and its time come, or left behind by a worker whose lease ran out.
 * One statement; of several processes one gets it, the others null.
 */
export async function claimThreadTask(
  db: Connection,
  { threadRef, task, leaseMs }: { threadRef: number; task: ThreadTask; leaseMs: number },
): Promise<ThreadTaskClaim | null> {
  const [row] = await db.query<{ done_until: number; attempts: number }>(sql`
    update ${db.schema}.thread_task k
    set lease_until = ${db.now()} + ${leaseMs} * interval '1 millisecond', attempts = attempts + 1, retry_at = null
    where k.thread_ref = ${threadRef} and k.task = ${task} and ${isDue(db)}
    returning done_until, attempts`);
  return row ? { threadRef, task, doneUntil: row.done_until, attempt: row.attempts } : null;
}

/** Threads whose `task` is due, longest due first. */
export async function findDueThreads(
  db: Connection,
  { task, limit }: { task: ThreadTask; limit: number },
): Promise<number[]> {
  const rows = await db.query<{ thread_ref: string }>(sql`
    select k.thread_ref from ${db.schema}.thread_task k
    where k.task = ${task} and ${isDue(db)}
    order by coalesce(k.lease_until, k.retry_at) limit ${limit}`);
  return rows.map((row) => Number(row.thread_ref));
}

function isDue(db: Connection): Sql {
  return sql`(k.lease_until <= ${db.now()} or (k.lease_until is null and k.retry_at <= ${db.now()}))`;
}
