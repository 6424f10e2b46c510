import { z } from "zod";
import { type JobRuntime, workOptions } from "../jobs/jobs-options.js";
import type { Runtime } from "../runtime.js";
import { smallCount } from "../text/parse-input.js";

export const summaryOptionsSchema = z.strictObject({
  /** Messages a summary stands for: seven rounds of plain chat. @default 14 */
  windowMessages: smallCount.min(2).default(14),
  /** First seq after which a round's end starts a summary: three rounds of plain chat. @default 5 */
  afterSeq: z.int().min(0).default(5),
  /**
   * Tokens that no summary covers after which a round's end starts one, however few the messages: what one call of the
   * model holds. Rounds of ordinary chat have some hundred.
   *
   * @default 16_000
   */
  afterTokens: z.int().min(1).default(16_000),
  ...workOptions,
  /**
   * Most calls for one summary, a summary of eight being half a megabyte of English. What a thread has said beyond it
   * waits for the next summary; only of a single round that is longer is the middle left out.
   *
   * @default 8
   */
  mostPieces: z.int().min(1).default(8),
  /** Longest summary kept; a window of 14 messages needs far less. @default 4_000 */
  maxCharacters: z.int().min(200).default(4_000),
  /** Tries before a summary is left `failed` for good; the next round starts a fresh one anyway. @default 5 */
  maxAttempts: z.int().min(1).default(5),
});

/** How summaries are made. */
export interface SummaryConfig extends z.input<typeof summaryOptionsSchema> {}

/** How summaries are made. */
export type SummaryOptions = z.output<typeof summaryOptionsSchema>;

/** What making summaries takes. */
export type SummaryRuntime = JobRuntime & Runtime<{ readonly summaries: SummaryOptions }>;
