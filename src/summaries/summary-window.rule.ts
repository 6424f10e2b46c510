import type { JobRuntime, TaskOptions } from "../jobs/jobs-options.js";
import type { Runtime } from "../runtime.js";
import { bytesPerToken } from "../text/estimate-tokens.js";

export const summaryConstants = {
  /** Messages that a summary covers: seven plain turns. Null: all. */
  windowMessages: 14 as number | null,
  /** First seq after which a turn's end starts a summary: three turns of plain chat. */
  afterSeq: 5,
  /** Messages without a summary after which a turn's end starts the next one: every turn. The first waits for `afterSeq`. */
  everyMessages: 2,
  /**
   * The last messages that a summary covers are also shown word for word, from the start of a turn: a summary cannot
   * carry "change the second function you just wrote". Three turns of plain chat.
   */
  keepRecentMessages: 6,
  /** Tokens after which a turn's end starts a summary, however few messages. Ordinary turns have some hundred. */
  afterTokens: 16_000,
  /** Most tokens shown beside the summary: omits older turns first, then tool calls, then the middle of texts. */
  keepRecentTokens: 2_000,
  /** A window of 14 messages needs far less. */
  maxCharacters: 4_000,
  /** Tries before a summary stays `failed`; the next turn starts a fresh one anyway. */
  maxAttempts: 5,
};

export type SummaryOptions = TaskOptions & Readonly<typeof summaryConstants>;

export type SummaryRuntime = JobRuntime & Runtime<{ readonly summaries: SummaryOptions }>;

export type SummarySkipReason = "too_early" | "already_running" | "nothing_new" | "too_few_new";

/** A thread's messages without system messages, after a turn was recorded. */
export interface SummaryTriggerInput {
  /** −1 when there is none. */
  readonly lastSeq: number;
  /** Counted up to `afterSeq` + 1. */
  readonly messages: number;
  readonly unsummarised: number;
  readonly unsummarisedBytes: number;
  /** Whether a worker with a live lease makes a summary now. */
  readonly processing: boolean;
  readonly summarisedSeq: number | null;
  readonly afterSeq: number;
  readonly everyMessages: number;
  readonly afterTokens: number;
}

/** Null when a turn's end starts a summary, else the reason why not: too few messages and tokens, or one is running. */
export function summarySkipReason(input: SummaryTriggerInput): SummarySkipReason | null {
  const isLong = input.unsummarisedBytes / bytesPerToken >= input.afterTokens;
  if (input.messages <= input.afterSeq && !isLong) return "too_early";
  if (input.processing) return "already_running";
  if (input.summarisedSeq === null) return null;
  if (input.summarisedSeq >= input.lastSeq) return "nothing_new";
  if (input.unsummarised < input.everyMessages && !isLong) return "too_few_new";
  return null;
}

/** The range of a transcript that a summary covers, both ends included. */
export interface SummaryWindow {
  readonly startSeq: number;
  readonly endSeq: number;
}

/**
 * At most `windowMessages` messages from the start of a turn, so that no tool call is parted from its result. The last
 * turn is always whole.
 * @param turnStarts seqs of user messages, ascending; those inside the window and the last one suffice.
 * @param earliestSeq seq of the first of the last `windowMessages`; system messages do not count.
 */
export function summaryWindow(
  lastSeq: number,
  windowMessages: number | null,
  turnStarts: readonly number[],
  earliestSeq = windowMessages === null ? 0 : Math.max(0, lastSeq - windowMessages + 1),
): SummaryWindow {
  if (windowMessages === null || earliestSeq === 0) return { startSeq: 0, endSeq: lastSeq };
  const startSeq = turnStarts.find((start) => start >= earliestSeq) ?? turnStarts.at(-1) ?? 0;
  return { startSeq, endSeq: lastSeq };
}
