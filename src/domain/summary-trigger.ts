/** Why no summary was started at the end of a round. */
export type SummarySkipReason = "too_early" | "already_running" | "nothing_new";

/** What is known of a thread's talk, its messages without the system messages, when a round has been recorded. */
export interface SummaryTriggerInput {
  /** Seq of the last one; −1 when there is none. */
  readonly lastSeq: number;
  /** How many there are, counted as far as the rule needs: one more than `afterSeq`. @default all up to `lastSeq` */
  readonly messages?: number;
  /** Bytes of those that no summary covers, of those counted. @default 0 */
  readonly unsummarisedBytes?: number;
  /** Whether a summary is being made right now, by a worker whose lease has not run out. */
  readonly processing: boolean;
  /** endSeq of the latest completed summary. */
  readonly summarisedSeq: number | null;
  /** Seq of the message after which there are enough of them, where none is a system message. */
  readonly afterSeq: number;
  /** Tokens without a summary that are enough, however few the messages. @default no number is */
  readonly afterTokens?: number;
}

/** Bytes of a token, by which texts are measured where they lie: prose, code, and scripts of three bytes a character come within a third. */
const bytesPerToken = 4;

/**
 * Whether a round's end starts a summary (`null`), or the reason why it does not.
 *
 * Enough messages, or a few of many words; and nothing running.
 */
export function summarySkipReason(input: SummaryTriggerInput): SummarySkipReason | null {
  const {
    lastSeq,
    messages = lastSeq + 1,
    unsummarisedBytes = 0,
    afterTokens = Number.POSITIVE_INFINITY,
  } = input;
  const isLong = unsummarisedBytes / bytesPerToken >= afterTokens;
  if (messages <= input.afterSeq && !isLong) return "too_early";
  if (input.processing) return "already_running";
  if (input.summarisedSeq !== null && input.summarisedSeq >= lastSeq) return "nothing_new";
  return null;
}
