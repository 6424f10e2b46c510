import type { Connection } from "../database/connection.js";
import { type SummarySkipReason, summarySkipReason } from "../domain/summary-trigger.js";
import { type SummaryWindow, summaryWindow } from "../domain/summary-window.js";
import type { Logger } from "../logger.js";
import type { SummaryOptions } from "../options.js";
import { claimSummary, type SummaryClaim } from "../store/claim-summary.js";
import type { RecordedThread } from "../store/record-messages.js";

/** A summary that was started, or why none was. */
export type SummaryStart =
  | { readonly started: true; readonly claim: SummaryClaim; readonly window: SummaryWindow }
  | { readonly started: false; readonly reason: SummarySkipReason };

/** Claims the next window of a thread whose round has just been recorded, when it is time. */
export async function startSummary(
  deps: { db: Connection; logger: Logger; summaries: SummaryOptions },
  thread: RecordedThread,
  threadId: string,
): Promise<SummaryStart> {
  const reason = summarySkipReason({ ...thread, afterSeq: deps.summaries.afterSeq });
  if (reason) return skipped(deps.logger, reason, threadId);

  const window = summaryWindow(thread.lastSeq, deps.summaries.windowMessages, thread.roundStarts);
  const claim = await claimSummary(deps.db, {
    threadRef: thread.threadRef,
    window,
    leaseMs: deps.summaries.leaseMs,
  });
  if (!claim) return skipped(deps.logger, "already_running", threadId);
  deps.logger.debug(`Memory ${claim.summaryId} status updated to processing`);
  return { started: true, claim, window };
}

function skipped(logger: Logger, reason: SummarySkipReason, threadId: string): SummaryStart {
  if (reason === "already_running") logger.debug(`Summarization already in progress for ${threadId}`);
  if (reason === "nothing_new") logger.debug(`No new messages to summarize for ${threadId}`);
  return { started: false, reason };
}
