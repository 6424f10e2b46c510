import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { SummaryWindow } from "../domain/summary-window.js";
import type { SummaryClaim } from "./claim-summary.js";

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
