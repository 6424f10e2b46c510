import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ThreadTaskClaim } from "./claim-thread-task.js";

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
