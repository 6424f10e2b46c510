/** Why no summary was started at the end of a round. */
export type SummarySkipReason = "too_early" | "already_running" | "nothing_new";

/** What is known of a thread when a round has been recorded. */
export interface SummaryTriggerInput {
  /** −1 when the transcript is empty. */
  readonly lastSeq: number;
  /** Whether a summary is being made right now, by a worker whose lease has not run out. */
  readonly processing: boolean;
  /** endSeq of the latest completed summary. */
  readonly summarisedSeq: number | null;
  readonly afterSeq: number;
}

/**
 * Whether a round's end starts a summary (`null`), or the reason why it does not.
 *
 * Enough messages, and nothing running.
 */
export function summarySkipReason(input: SummaryTriggerInput): SummarySkipReason | null {
  if (input.lastSeq < input.afterSeq) return "too_early";
  if (input.processing) return "already_running";
  if (input.summarisedSeq !== null && input.summarisedSeq >= input.lastSeq) return "nothing_new";
  return null;
}
