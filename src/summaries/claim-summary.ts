import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { errorCodeOf } from "../postgres/database-error.js";
import type { SummaryWindow } from "./summary-window.js";

/** The right to make one summary, held until the lease runs out. */
export interface SummaryClaim {
  readonly summaryId: number;
  /** Grows with every claim of the same row: a worker whose lease ran out can no longer write to it. */
  readonly attempt: number;
}

/**
 * Claims the next summary of a thread by inserting its `processing` row, based on the latest completed one.
 *
 * A `processing` row whose lease ran out is failed first. `null` when another process holds a live claim, or
 * has summarised the same messages meanwhile: the partial unique index `summary_processing` decides races.
 */
export async function claimSummary(
  db: Connection,
  input: { threadRef: number; window: SummaryWindow; leaseMs: number },
): Promise<SummaryClaim | null> {
  const { threadRef, window, leaseMs } = input;
  // The insert reads `expired`, so that the lapsed row has left the index before the new one enters it.
  const [row] = await db.query<{ id: string }>(sql`
    with expired as (
      update ${db.schema}.summary
      set status = 'failed', error = 'the worker stopped before it was done', lease_until = null
      where thread_ref = ${threadRef} and status = 'processing' and lease_until <= ${db.now()}
      returning id
    )
    insert into ${db.schema}.summary
      (thread_ref, start_seq, end_seq, base_id, status, lease_until, created_at)
    select ${threadRef}, ${window.startSeq}, ${window.endSeq},
      (
        select s.id from ${db.schema}.summary s
        where s.thread_ref = ${threadRef} and s.status = 'completed' and s.rolled_back_at is null
        order by s.end_seq desc, s.id desc limit 1
      ),
      'processing', ${db.now()} + ${leaseMs} * interval '1 millisecond', ${db.now()}
    where not exists (
      select from ${db.schema}.summary s
      where s.thread_ref = ${threadRef} and (
        (s.status = 'processing' and s.id not in (select id from expired))
        or (s.status = 'completed' and s.rolled_back_at is null and s.end_seq >= ${window.endSeq})
      )
    )
    on conflict (thread_ref) where status = 'processing' do nothing
    returning id`);
  return row ? { summaryId: Number(row.id), attempt: 1 } : null;
}

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

/**
 * Completes a claimed summary. False when the claim was lost meanwhile; nothing is written then.
 *
 * @param result.window what it stands for: the window claimed, or its beginning.
 */
export async function completeSummary(
  db: Connection,
  claim: SummaryClaim,
  result: { text: string; generationTimeMs: number; window: SummaryWindow },
): Promise<boolean> {
  const { text, generationTimeMs, window } = result;
  const roundsUntil = (seq: number) => sql`(
    select count(*) from ${db.schema}.message m
    where m.thread_ref = s.thread_ref and m.role = 'user' and m.seq <= ${seq}
  )`;
  const rows = await db.query(sql`
    update ${db.schema}.summary s
    set status = 'completed', content = ${text}, generation_time_ms = ${generationTimeMs},
      start_seq = ${window.startSeq}, end_seq = ${window.endSeq}, start_round = ${roundsUntil(window.startSeq)},
      end_round = ${roundsUntil(window.endSeq)}, lease_until = null, error = null
    where id = ${claim.summaryId} and status = 'processing' and attempts = ${claim.attempt}
    returning id`);
  return rows.length > 0;
}

/** Fails a claimed summary, to be tried again after `retryDelayMs` (null: not again). False when the claim was lost. */
export async function failSummary(
  db: Connection,
  claim: SummaryClaim,
  result: { error: string; retryDelayMs: number | null },
): Promise<boolean> {
  const rows = await db.query(sql`
    update ${db.schema}.summary
    set status = 'failed', error = ${result.error}, lease_until = null,
      retry_at = ${db.now()} + ${result.retryDelayMs}::float8 * interval '1 millisecond'
    where id = ${claim.summaryId} and status = 'processing' and attempts = ${claim.attempt}
    returning id`);
  return rows.length > 0;
}

/** Extends a claim's lease. False when the claim was lost. */
export async function renewSummaryLease(
  db: Connection,
  claim: SummaryClaim,
  leaseMs: number,
): Promise<boolean> {
  const rows = await db.query(sql`
    update ${db.schema}.summary
    set lease_until = ${db.now()} + ${leaseMs} * interval '1 millisecond'
    where id = ${claim.summaryId} and status = 'processing' and attempts = ${claim.attempt}
    returning id`);
  return rows.length > 0;
}
