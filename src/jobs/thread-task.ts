import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";

/**
 * How work on a thread's task ended: "skipped": there was nothing to do; "deferred" to a later time; "failed", to
 * be tried again; "dead_letter": given up; "lost": another worker took it over.
 */
export type TaskStatus = "completed" | "skipped" | "deferred" | "failed" | "dead_letter" | "lost";

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

/** Marks a thread's task as due now, unless it waits for its next try already. */
export async function markThreadTask(
  db: Connection,
  { threadRef, task }: { threadRef: number; task: ThreadTask },
): Promise<void> {
  await db.query(sql`
    insert into ${db.schema}.thread_task as k (thread_ref, task, done_until, retry_at)
    values (${threadRef}, ${task}, ${task === "extract" ? -1 : 0}, ${db.now()})
    on conflict (thread_ref, task) do update set retry_at = coalesce(k.retry_at, excluded.retry_at)`);
}

/**
 * Moves a claimed task's cursor on and frees it. False when the claim was lost; nothing is written then.
 *
 * @param result.more whether the thread has more to do now.
 */
export async function completeThreadTask(
  db: Connection,
  claim: ThreadTaskClaim,
  result: { doneUntil: number; more: boolean },
): Promise<boolean> {
  // A round recorded meanwhile has marked the task again: the mark stays.
  const rows = await db.query(sql`
    update ${db.schema}.thread_task
    set done_until = ${result.doneUntil}, lease_until = null, attempts = 0, error = null,
      retry_at = coalesce(retry_at, case when ${result.more} then ${db.now()} end)
    where ${isHeld(claim)}
    returning task`);
  return rows.length > 0;
}

/** Frees a claimed task, to be tried again after `retryDelayMs`. False when the claim was lost. */
export async function failThreadTask(
  db: Connection,
  claim: ThreadTaskClaim,
  result: { error: string; retryDelayMs: number },
): Promise<boolean> {
  const rows = await db.query(sql`
    update ${db.schema}.thread_task
    set lease_until = null, error = ${result.error},
      retry_at = ${db.now()} + ${result.retryDelayMs}::float8 * interval '1 millisecond'
    where ${isHeld(claim)}
    returning task`);
  return rows.length > 0;
}

/** Frees a claimed task without having tried, until `until`. False when the claim was lost. */
export async function deferThreadTask(db: Connection, claim: ThreadTaskClaim, until: Date): Promise<boolean> {
  const rows = await db.query(sql`
    update ${db.schema}.thread_task
    set lease_until = null, attempts = attempts - 1, retry_at = ${until}
    where ${isHeld(claim)}
    returning task`);
  return rows.length > 0;
}

/** Extends a claim's lease. False when the claim was lost. */
export async function renewThreadTaskLease(
  db: Connection,
  claim: ThreadTaskClaim,
  leaseMs: number,
): Promise<boolean> {
  const rows = await db.query(sql`
    update ${db.schema}.thread_task
    set lease_until = ${db.now()} + ${leaseMs} * interval '1 millisecond'
    where ${isHeld(claim)}
    returning task`);
  return rows.length > 0;
}

function isHeld({ threadRef, task, doneUntil, attempt }: ThreadTaskClaim): Sql {
  return sql`thread_ref = ${threadRef} and task = ${task} and done_until = ${doneUntil} and attempts = ${attempt}
    and lease_until is not null`;
}
