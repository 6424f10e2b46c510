import { z } from "zod";
import type { JobRuntime, TaskOptions } from "../jobs/jobs-options.js";
import type { Runtime } from "../runtime.js";
import { bytesPerToken } from "../text/estimate-tokens.js";
import { smallCount } from "../text/parse-input.js";

export const summaryOptionsSchema = z.strictObject({
  /**
   * Messages a summary stands for: seven rounds of plain chat. Raise it where users come back to what was said long before.
   *
   * @default 14
   */
  windowMessages: smallCount.min(2).default(14),
  /**
   * First seq after which a round's end starts a summary: three rounds of plain chat. Raise it where most conversations are
   * short, which then need no summary.
   *
   * @default 5
   */
  afterSeq: z.int().min(0).default(5),
  /**
   * Messages that no summary covers after which a round's end starts the next one: with 2 every round, which keeps the gap
   * smallest; with 8 a summary costs a quarter of the calls. The first one waits for `afterSeq`.
   *
   * @default 2
   */
  everyMessages: smallCount.min(1).default(2),
  /**
   * The last messages that a summary covers are shown word for word beside it, moved back to the start of a round: a summary
   * cannot carry "change the second function you just wrote". Three rounds of plain chat; 0 shows the summary alone. Raise it
   * where users come back to the wording of older messages.
   *
   * @default 6
   */
  keepRecentMessages: smallCount.max(1_000).default(6),
});

/** What goes with the settings and is none. */
export const summaryConstants = {
  /**
   * Tokens that no summary covers after which a round's end starts one, however few the messages: what one call of the
   * model holds. Rounds of ordinary chat have some hundred.
   */
  afterTokens: 16_000,
  /**
   * Most tokens of the messages that are shown beside the summary. Older rounds are left out first; of a round that alone is
   * longer the calls of tools, then the middle of its texts. Some pages.
   */
  keepRecentTokens: 2_000,
  /** Longest summary kept; a window of 14 messages needs far less. */
  maxCharacters: 4_000,
  /** Tries before a summary is left `failed` for good; the next round starts a fresh one anyway. */
  maxAttempts: 5,
};

/** How summaries are made. */
export interface SummaryConfig extends z.input<typeof summaryOptionsSchema> {}

/** How summaries are made. */
export type SummaryOptions = z.output<typeof summaryOptionsSchema> &
  TaskOptions &
  Readonly<typeof summaryConstants>;

/** What making summaries takes. */
export type SummaryRuntime = JobRuntime & Runtime<{ readonly summaries: SummaryOptions }>;

/** Why no summary was started at the end of a round. */
export type SummarySkipReason = "too_early" | "already_running" | "nothing_new" | "too_few_new";

/** What is known of a thread's talk, its messages without the system messages, when a round has been recorded. */
export interface SummaryTriggerInput {
  /** Seq of the last one; −1 when there is none. */
  readonly lastSeq: number;
  /** How many there are; counting stops at one more than `afterSeq`, which is all the rule asks. */
  readonly messages: number;
  /** How many of them no summary covers. */
  readonly unsummarised: number;
  /** Bytes of those. */
  readonly unsummarisedBytes: number;
  /** Whether a summary is being made right now, by a worker whose lease has not run out. */
  readonly processing: boolean;
  /** endSeq of the latest completed summary. */
  readonly summarisedSeq: number | null;
  /** Seq of the message after which there are enough of them, where none is a system message. */
  readonly afterSeq: number;
  /** How many without a summary make the next one. */
  readonly everyMessages: number;
  /** Tokens without a summary that are enough, however few the messages. */
  readonly afterTokens: number;
}

/**
 * Whether a round's end starts a summary (`null`), or the reason why it does not.
 *
 * Enough messages, or a few of many words; and nothing running. After the first summary, enough that are new.
 */
export function summarySkipReason(input: SummaryTriggerInput): SummarySkipReason | null {
  const isLong = input.unsummarisedBytes / bytesPerToken >= input.afterTokens;
  if (input.messages <= input.afterSeq && !isLong) return "too_early";
  if (input.processing) return "already_running";
  if (input.summarisedSeq === null) return null;
  if (input.summarisedSeq >= input.lastSeq) return "nothing_new";
  if (input.unsummarised < input.everyMessages && !isLong) return "too_few_new";
  return null;
}

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
