import sql, { type Sql } from "sql-template-tag";
import type { Job, Worker } from "../jobs/background-work.js";
import { endLease, isDue, type Lease, type LeaseTable, leaseEnd, takeLeases } from "../jobs/lease.js";
import type { Connection } from "../postgres/connection.js";
import { errorCodeOf } from "../postgres/database-error.js";
import type { SummaryOptions } from "./summary-options.js";
import type { SummaryWindow } from "./summary-window.js";

/** The right to make one summary. */
export interface SummaryClaim extends Lease {
  readonly summaryId: number;
}

/** Summaries in the making. Their rows stay as the record of what was tried. */
export const summaryLeases: LeaseTable<SummaryClaim> = {
  name: "summary",
  row: ({ summaryId }) => sql`id = ${summaryId}`,
  label: ({ summaryId }) => `Memory ${summaryId}`,
  status: { taken: sql`status = 'processing',`, failed: sql`status = 'failed',` },
};

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
      ${failLapsed(db)} and thread_ref = ${threadRef} returning id
    )
    insert into ${db.schema}.summary
      (thread_ref, start_seq, end_seq, base_id, status, lease_until, created_at)
    select ${threadRef}, ${window.startSeq}, ${window.endSeq},
      (
        select s.id from ${db.schema}.summary s
        where s.thread_ref = ${threadRef} and s.status = 'completed' and s.rolled_back_at is null
        order by s.end_seq desc, s.id desc limit 1
      ),
      'processing', ${leaseEnd(db, leaseMs)}, ${db.now()}
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
async function claimDueSummaries(db: Connection, limits: ClaimLimits): Promise<SummaryClaim[]> {
  try {
    return await tryClaim(db, limits);
  } catch (error) {
    // A round of one of these threads has claimed a newer window since the statement began: look again.
    if (error instanceof Error && errorCodeOf(error.cause) === "23505") return tryClaim(db, limits);
    throw error;
  }
}

interface ClaimLimits {
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly limit: number;
}

async function tryClaim(
  db: Connection,
  { leaseMs, maxAttempts, limit }: ClaimLimits,
): Promise<SummaryClaim[]> {
  const rows = await takeLeases<{ id: string; attempts: number }, SummaryClaim>(db, summaryLeases, {
    first: sql`with given_up as (${failLapsed(db)} and attempts >= ${maxAttempts})`,
    rows: sql`id in (
      select s.id from ${db.schema}.summary s
      where s.attempts < ${maxAttempts} and s.status in ('processing', 'failed') and ${isDue(db)}
        and not exists (
          select from ${db.schema}.summary newer
          where newer.thread_ref = s.thread_ref and newer.id > s.id
        )
      order by s.id
      limit ${limit}
      for update skip locked
    )`,
    leaseMs,
    returning: sql`id, attempts`,
  });
  return rows.map((row) => ({ summaryId: Number(row.id), attempt: row.attempts }));
}

/** Fails the summaries whose worker is gone; conditions may follow. */
function failLapsed(db: Connection): Sql {
  return sql`
    update ${db.schema}.summary
    set status = 'failed', error = 'the worker stopped before it was done', lease_until = null
    where status = 'processing' and lease_until <= ${db.now()}`;
}

/**
 * Completes a claimed summary.
 *
 * @param result.window what it stands for: the window claimed, or its beginning.
 * @throws MemoryError `LEASE_LOST` when another worker has taken it over; nothing is written then.
 */
export async function completeSummary(
  db: Connection,
  claim: SummaryClaim,
  { text, generationTimeMs, window }: { text: string; generationTimeMs: number; window: SummaryWindow },
): Promise<void> {
  const roundsUntil = (seq: number) => sql`(
    select count(*) from ${db.schema}.message m
    where m.thread_ref = w.thread_ref and m.role = 'user' and m.seq <= ${seq}
  )`;
  const set = sql`status = 'completed', content = ${text}, generation_time_ms = ${generationTimeMs},
    start_seq = ${window.startSeq}, end_seq = ${window.endSeq}, start_round = ${roundsUntil(window.startSeq)},
    end_round = ${roundsUntil(window.endSeq)}, error = null`;
  await endLease(db, summaryLeases, claim, set);
}

/** Makes summaries. */
export interface SummaryWorker extends Worker {
  /** Making one claimed summary. */
  of(claim: SummaryClaim): Job;
}

/** The worker for summaries; `summarize` makes a claimed one. */
export function createSummaryWorker(
  db: Connection,
  { leaseMs, maxAttempts }: SummaryOptions,
  summarize: (claim: SummaryClaim) => Promise<unknown>,
): SummaryWorker {
  const of = (claim: SummaryClaim): Job => ({
    name: `Summary ${claim.summaryId}`,
    run: async () => void (await summarize(claim)),
  });
  return {
    of,
    due: async (limit) => (await claimDueSummaries(db, { leaseMs, maxAttempts, limit })).map(of),
  };
}
