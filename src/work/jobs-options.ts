import { z } from "zod";
import { timerOption } from "../input/parse-input.js";
import type { Runtime } from "../runtime.js";

export const jobsOptionsSchema = z.strictObject({
  /**
   * Background jobs at the same time in this process. Lower it where a model's provider limits
   * calls.
   * @default 4
   */
  concurrency: z.int().min(1).default(4),
});

export const jobConstants = {
  /** How often this process looks for work whose lease has run out. */
  sweepIntervalMs: 60_000,
  /** How often `memory.work()` polls an empty queue of each kind: pg-boss's own interval. */
  pollIntervalMs: 2_000,
};

export const taskOptionsSchema = z.strictObject({
  /**
   * Longest wait for a model call, for embeddings of each 100 texts, and for each text that
   * `redact` and `screen` are given. Raise it for slow models.
   * @default 30_000
   */
  timeoutMs: timerOption.min(1).default(30_000),
  /**
   * Tokens of conversation in one call, an eighth of a 128k window: lower it for smaller ones.
   * @default 16_000
   */
  inputBudgetTokens: z.int().min(200).default(16_000),
});

export const taskConstants = {
  /**
   * How long a worker may be silent before another takes over: two model calls and their repairs.
   */
  leaseMs: 150_000,
  /** After the first failure; doubles each time, up to an hour. */
  retryDelayMs: 30_000,
  /**
   * Most calls for one piece of work: half a megabyte of English. The middle of longer messages is
   * omitted.
   */
  maxPieces: 8,
  /** Tries, of two answers each, before unusable output becomes a dead letter. */
  maxAttempts: 3,
  /**
   * Tries before failing calls become a dead letter: with the growing waits some 14 hours of
   * outage.
   */
  maxFailures: 20,
};

export type TaskOptions = z.output<typeof taskOptionsSchema> & Readonly<typeof taskConstants>;

export type Tries = Pick<
  TaskOptions,
  "timeoutMs" | "leaseMs" | "retryDelayMs" | "maxAttempts" | "maxFailures"
>;

export type JobRuntime = Runtime<object>;

export type TaskRuntime = JobRuntime & Runtime<{ readonly upkeep: TaskOptions }>;
