import type { Runtime } from "../runtime.js";
import { bytesPerToken } from "../text/estimate-tokens.js";
import type { RecordConfig } from "../transcript/record.js";
import type { RecordedThread } from "../transcript/record-messages.js";
import type { RecordedTalk } from "../transcript/thread-talk.js";
import type { JobRuntime, TaskOptions } from "../work/jobs-options.js";

export const summaryConstants = {
  /** Messages that a summary covers: seven plain turns. Null: all. */
  windowMessages: 14 as number | null,
  /** A thread's first summary needs more messages than this: three plain turns. */
  afterSeq: 5,
  /** Unsummarised messages that start the next summary: every turn. */
  everyMessages: 2,
  /**
   * Covered messages that are also shown verbatim: a summary cannot carry code. Three turns of
   * plain chat.
   */
  keepRecentMessages: 6,
  /** Tokens that start a summary, however few the messages. Ordinary turns have some hundred. */
  afterTokens: 16_000,
  /**
   * Upper bound beside the summary: omits older turns first, then tool calls, then the middle of
   * texts.
   */
  keepRecentTokens: 2_000,
  /** A window of 14 messages needs far less. */
  maxCharacters: 4_000,
  /** Then it stays `failed`; the next turn starts a fresh one. */
  maxAttempts: 5,
};

export type SummaryOptions = TaskOptions & Readonly<typeof summaryConstants>;

export type SummaryRuntime = JobRuntime &
  Runtime<{ readonly summaries: SummaryOptions } & Pick<RecordConfig, "retrieval">>;

export type SummarySkipReason = "too_early" | "already_running" | "nothing_new" | "too_few_new";

/** Counts exclude system messages. */
type SummaryTriggerInput = Pick<RecordedThread, "processing" | "summarisedSeq"> &
  Pick<RecordedTalk, "lastSeq" | "messages" | "unsummarised" | "unsummarisedBytes"> &
  Pick<SummaryOptions, "afterSeq" | "everyMessages" | "afterTokens">;

/** Null when a summary is due, else the reason why not. */
export function summarySkipReason(input: SummaryTriggerInput): SummarySkipReason | null {
  const isLong = input.unsummarisedBytes / bytesPerToken >= input.afterTokens;
  if (input.messages <= input.afterSeq && !isLong) return "too_early";
  if (input.processing) return "already_running";
  if (input.summarisedSeq === null) return null;
  if (input.summarisedSeq >= input.lastSeq) return "nothing_new";
  if (input.unsummarised < input.everyMessages && !isLong) return "too_few_new";
  return null;
}

export type SummaryWindow = { readonly startSeq: number; readonly endSeq: number };

/**
 * At most `windowMessages` messages, from a turn's start: calls stay with results. The last turn is
 * always whole.
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
