import { z } from "zod";
import type { Runtime } from "../runtime.js";
import { timerOption } from "../text/parse-input.js";

export const jobsOptionsSchema = z.strictObject({
  /** Background jobs at the same time in this process. Lower it where a model's provider limits calls. @default 4 */
  concurrency: z.int().min(1).default(4),
});

/** How background work runs in this process. */
export interface JobsConfig extends z.input<typeof jobsOptionsSchema> {}

/** What goes with the settings and is none. */
export const jobConstants = {
  /** How often this process looks for work that another one left behind, once its lease has run out. */
  sweepIntervalMs: 60_000,
  /** How often `memory.work()` asks an empty queue, each kind of work having one: as often as pg-boss does. */
  pollIntervalMs: 2_000,
};

/** How often work is tried. */
export interface Tries {
  readonly leaseMs: number;
  readonly retryDelayMs: number;
  /** Tries before work is given up whose model gives no answer that can be used. */
  readonly maxAttempts: number;
  /** Tries before work is given up that fails in any other way. */
  readonly maxFailures: number;
}

export const taskOptionsSchema = z.strictObject({
  /**
   * Longest wait for one model call, and for the embeddings of up to a hundred texts that are written; each further hundred
   * may take as long again. A call that takes longer is stuck. Raise it for models that run on slow machines.
   *
   * @default 30_000
   */
  timeoutMs: timerOption.min(1).default(30_000),
  /**
   * Tokens of conversation given to the model in one call; more is worked on in pieces. An eighth of a 128k window: lower it
   * for models with a smaller one.
   *
   * @default 16_000
   */
  inputBudgetTokens: z.int().min(200).default(16_000),
});

/** How summaries, facts, episodes, procedures, notes, compaction, insights and consolidation are made. */
export interface UpkeepConfig extends z.input<typeof taskOptionsSchema> {}

/** What goes with the settings and is none. */
export const taskConstants = {
  /** How long a worker may be silent before another takes over: two model calls and their repairs. */
  leaseMs: 150_000,
  /** Wait after the first failure; doubles each time, up to an hour. */
  retryDelayMs: 30_000,
  /**
   * Most calls for one piece of work: eight are half a megabyte of English. Of longer messages the middle is left out; what
   * more of them there are waits for further pieces of work.
   */
  mostPieces: 8,
  /** Tries, of two answers each, before output that cannot be used becomes a dead letter. */
  maxAttempts: 3,
  /** Tries before work whose calls fail becomes a dead letter: with the growing waits some 14 hours of outage. */
  maxFailures: 20,
};

/** How the tasks of threads and owners are done, and procedures written. */
export type TaskOptions = z.output<typeof taskOptionsSchema> & Readonly<typeof taskConstants>;

/** What every background job needs. */
export type JobRuntime = Runtime<object>;

/** What the tasks of threads need. */
export type TaskRuntime = JobRuntime & Runtime<{ readonly upkeep: TaskOptions }>;
