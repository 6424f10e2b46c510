import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { errorCodeOf } from "../database/database-error.js";
import type { SummaryClaim } from "./claim-summary.js";

/**
 * Claims summaries that should be tried again: left `processing` past their lease, or `failed` with their
 * retry time come, fewer than `maxAttempts` tries so far, and nothing newer in their thread. Oldest first.
 *
 * Those left `processing` by their last try are failed for good.
 */
export async function claimDueSummaries(
  db: Connection,
  input: { leaseMs: number; maxAttempts: number; limit: number },
): Promise<SummaryClaim[]> {
  try {
    return await claim(db, input);
  } catch (error) {
    // A round of one of these threads has claimed a newer window since this statement began: look again.
    if (error instanceof Error && errorCodeOf(error.cause) === "23505") return claim(db, input);
    throw error;
  }
}

async function claim(
  db: Connection,
  input: { leaseMs: number; maxAttempts: number; limit: number },
): Promise<SummaryClaim[]> {
  const rows = await db.query<{ id: string; attempts: number }>(sql`
    with given_up as (
      update ${db.schema}.summary
      set status = 'failed', error = 'the worker stopped before it was done', lease_until = null
      where status = 'processing' and lease_until <= ${db.now()} and attempts >= ${input.maxAttempts}
    )
    update ${db.schema}.summary
    set status = 'processing', attempts = attempts + 1, retry_at = null, error = null,
      lease_until = ${db.now()} + ${input.leaseMs} * interval '1 millisecond'
    where id in (
      select s.id from ${db.schema}.summary s
      where s.attempts < ${input.maxAttempts}
        and (
          (s.status = 'processing' and s.lease_until <= ${db.now()})
          or (s.status = 'failed' and s.retry_at <= ${db.now()})
        )
        and not exists (
          select from ${db.schema}.summary newer
          where newer.thread_ref = s.thread_ref and newer.id > s.id
        )
      order by s.id
      limit ${input.limit}
      for update skip locked
    )
    returning id, attempts`);
  return rows.map((row) => ({ summaryId: Number(row.id), attempt: row.attempts }));
}
