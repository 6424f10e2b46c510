import type { Connection } from "../database/connection.js";
import { hasPendingToolCalls } from "../domain/pending-tool-calls.js";
import type { SummarySkipReason } from "../domain/summary-trigger.js";
import type { SummaryWindow } from "../domain/summary-window.js";
import type { Logger } from "../logger.js";
import type { ResolvedConfig } from "../options.js";
import type { SummaryClaim } from "../store/claim-summary.js";
import { startSummary } from "../summarize/start-summary.js";
import { type RecordInput, record } from "./record.js";

/** What the end of a round did. */
export interface Remembered {
  /** How many messages were new to the transcript. */
  readonly recorded: number;
  readonly lastSeq: number;
  /** The summary that was started, or why none was. */
  readonly summary:
    | { readonly started: true; readonly claim: SummaryClaim; readonly window: SummaryWindow }
    | { readonly started: false; readonly reason: SummarySkipReason | "no_model" | "round_open" };
}

/**
 * Ends a round: records its messages and, when it is time, claims the next summary window.
 *
 * One round trip, and a second one when a summary starts. Making the summary is the caller's business.
 */
export async function remember(
  deps: { db: Connection; logger: Logger; config: ResolvedConfig; hasModel: boolean },
  input: RecordInput,
): Promise<Remembered> {
  const thread = await record(deps.db, input, deps.config);
  const { recorded, lastSeq } = thread;
  const skip = (reason: "no_model" | "round_open") => ({
    recorded,
    lastSeq,
    summary: { started: false as const, reason },
  });
  if (!deps.hasModel) return skip("no_model");
  if (hasPendingToolCalls(input.messages)) return skip("round_open");
  return { recorded, lastSeq, summary: await startSummary({ ...deps, summaries: deps.config.summaries }, thread, input.threadId) };
}
