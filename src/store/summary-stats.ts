import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** Counts and times of all summaries. */
export interface SummaryStats {
  readonly completed: number;
  readonly processing: number;
  readonly failed: number;
  /** Mean time of the model work, in ms; null when nothing is completed. */
  readonly averageMs: number | null;
  readonly maxMs: number | null;
}

/** How many summaries there are and how long they took, over all threads. */
export async function summaryStats(db: Connection): Promise<SummaryStats> {
  const [row] = await db.query<SummaryStats>(sql`
    select
      count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'processing')::int as processing,
      count(*) filter (where status = 'failed')::int as failed,
      avg(generation_time_ms) filter (where status = 'completed')::float8 as "averageMs",
      max(generation_time_ms) filter (where status = 'completed') as "maxMs"
    from ${db.schema}.summary`);
  return row as SummaryStats;
}
