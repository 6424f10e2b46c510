import type { Work, WorkKind } from "../jobs/background-work.js";
import type { Connection } from "../postgres/connection.js";
import { claimDueSummaries, type SummaryClaim } from "./claim-summary.js";
import type { SummaryOptions } from "./summary-options.js";

/** Summaries as background work. */
export interface SummaryWorkKind extends WorkKind {
  /** Making one claimed summary. */
  of(claim: SummaryClaim): Work;
}

/** Summaries as background work; `summarize` makes a claimed one. */
export function createSummaryWork(
  db: Connection,
  { leaseMs, maxAttempts }: SummaryOptions,
  summarize: (claim: SummaryClaim) => Promise<void>,
): SummaryWorkKind {
  const of = (claim: SummaryClaim): Work => ({
    name: `Summary ${claim.summaryId}`,
    run: () => summarize(claim),
  });
  return {
    of,
    due: async (limit) => (await claimDueSummaries(db, { leaseMs, maxAttempts, limit })).map(of),
  };
}
