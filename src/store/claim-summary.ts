import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { SummaryWindow } from "../domain/summary-window.js";

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
