import { z } from "zod";
import { MemoryError } from "./errors.js";

const summaryOptionsSchema = z.strictObject({
  /** Messages a summary stands for. Seed 001, `memory_rolling_window_size`. */
  windowMessages: z.int().min(2).default(14),
  /** First seq after which a round's end starts a summary. Seed 001, `memory_summarize_after_seq`. */
  afterSeq: z.int().min(0).default(5),
  /** Longest wait for one model call. Design §8's limit for background calls. */
  timeoutMs: z.int().min(1).default(30_000),
  /** Tokens of conversation given to the model in one call; more is summarised in pieces. An eighth of a 128k window. */
  inputBudgetTokens: z.int().min(200).default(16_000),
  /** Longest summary kept; a window of 14 messages needs far less. */
  maxCharacters: z.int().min(200).default(4_000),
  /** How long a worker may be silent before another takes over: two model calls and their repairs. */
  leaseMs: z.int().min(1).default(150_000),
  /** Tries before a summary is left `failed` for good; the next round starts a fresh one anyway. */
  maxAttempts: z.int().min(1).default(5),
  /** Wait after the first failure; doubles each time. */
  retryDelayMs: z.int().min(0).default(30_000),
});

const configSchema = z.strictObject({
  summaries: summaryOptionsSchema.prefault({}),
  jobs: z
    .strictObject({
      /** Background jobs at the same time in this process. */
      concurrency: z.int().min(1).default(4),
      /** How often this process looks for work that another one left behind. Half a lease. */
      sweepIntervalMs: z.int().min(10).default(60_000),
    })
    .prefault({}),
});

/** Everything tunable, as the user writes it. */
export type MemoryConfig = z.input<typeof configSchema>;

/** Everything tunable, with defaults filled in. */
export type ResolvedConfig = z.output<typeof configSchema>;

/** How summaries are made. */
export type SummaryOptions = ResolvedConfig["summaries"];

/**
 * `config` with defaults filled in.
 *
 * @throws MemoryError `INVALID_INPUT` that names each unknown or wrong option.
 */
export function resolveConfig(config: MemoryConfig | undefined): ResolvedConfig {
  const parsed = configSchema.safeParse(config ?? {});
  if (parsed.success) return parsed.data;
  throw new MemoryError("INVALID_INPUT", `Invalid config:\n${z.prettifyError(parsed.error)}`);
}
