/** The stretch of a transcript that a summary stands for, both ends included. */
export interface SummaryWindow {
  readonly startSeq: number;
  readonly endSeq: number;
}

/**
 * The window of a summary made after `lastSeq` was recorded.
 *
 * It holds at most `windowMessages` messages and starts at the start of a round, so no round is cut and
 * no tool call is parted from its result. In plain user/assistant chat that means an even start.
 * The last round is always whole, even when it alone is longer than the window.
 *
 * @param roundStarts seqs of user messages, ascending; those inside the window and the last one suffice.
 * @param earliestSeq seq of the first of the last `windowMessages`, where some are system messages, which fill no window.
 */
export function summaryWindow(
  lastSeq: number,
  windowMessages: number,
  roundStarts: readonly number[],
  earliestSeq = Math.max(0, lastSeq - windowMessages + 1),
): SummaryWindow {
  if (earliestSeq === 0) return { startSeq: 0, endSeq: lastSeq };
  const startSeq = roundStarts.find((start) => start >= earliestSeq) ?? roundStarts.at(-1) ?? 0;
  return { startSeq, endSeq: lastSeq };
}
