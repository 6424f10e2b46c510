import { z } from "zod";
import type { Runtime } from "../runtime.js";
import { spanOption, timerOption } from "../text/parse-input.js";
import { type JobKind, jobKinds } from "./job-kinds.rule.js";

export const jobsOptionsSchema = z.strictObject({
  /** Background jobs at the same time in this process. @default 4 */
  concurrency: z.int().min(1).default(4),
  /** How often this process looks for work that another one left behind, once its lease has run out. @default 60_000 */
  sweepIntervalMs: timerOption.min(10).default(60_000),
  /** Jobs of one kind at the same time, where `memory.work()` does them and it is to be another number than `concurrency`. @default {} */
  concurrencyByKind: z.partialRecord(z.enum(jobKinds as [JobKind, ...JobKind[]]), z.int().min(1)).default({}),
  /** How often `memory.work()` asks an empty queue, each kind of work having one: as often as pg-boss does. @default 2_000 */
  pollIntervalMs: timerOption.min(10).default(2_000),
});

/** How background work runs in this process. */
export interface JobsConfig extends z.input<typeof jobsOptionsSchema> {}

/** What each kind of work that asks a model has, but for how often it is tried. */
export const workConstants = {
  /** Longest wait for one model call. A background call that takes longer is stuck. */
  timeoutMs: 30_000,
  /** Tokens of conversation given to the model in one call; more is worked on in pieces. An eighth of a 128k window. */
  inputBudgetTokens: 16_000,
  /** How long a worker may be silent before another takes over: two model calls and their repairs. */
  leaseMs: 150_000,
  /** Wait after the first failure; doubles each time, up to an hour. */
  retryDelayMs: 30_000,
};

/** How often work is tried. */
export interface Tries {
  readonly leaseMs: number;
  readonly retryDelayMs: number;
  /** Tries before work is given up whose model gives no answer that can be used. */
  readonly maxAttempts: number;
  /** Tries before work is given up that fails in any other way. @default `maxAttempts` */
  readonly maxFailures?: number;
}

export const taskOptionsSchema = z.strictObject({
  /**
   * Tokens of conversation given to the model in one call; more is worked on in pieces. An eighth of a 128k window.
   *
   * @default 16_000
   */
  inputBudgetTokens: z.int().min(200).default(workConstants.inputBudgetTokens),
  /**
   * How long a worker may be silent before another takes over: two model calls and their repairs.
   *
   * @default 150_000
   */
  leaseMs: spanOption.min(1).default(workConstants.leaseMs),
  /** Wait after the first failure; doubles each time, up to an hour. @default 30_000 */
  retryDelayMs: timerOption.min(0).default(workConstants.retryDelayMs),
  /**
   * Longest wait for one model call, and for the embeddings of up to a hundred texts that are written; each further hundred
   * may take as long again. A call that takes longer is stuck.
   *
   * @default 30_000
   */
  timeoutMs: timerOption.min(1).default(workConstants.timeoutMs),
  /**
   * Most calls for the facts of some messages, an episode or a procedure: eight are half a megabyte of English. Of longer
   * messages the middle is left out; what more of them there are, facts are extracted of in further pieces of work.
   *
   * @default 8
   */
  mostPieces: z.int().min(1).default(8),
  /** Tries, of two answers each, before output that cannot be used becomes a dead letter. @default 3 */
  maxAttempts: z.int().min(1).default(3),
  /**
   * Tries before work whose calls fail becomes a dead letter: with the growing waits some 14 hours of outage.
   *
   * @default 20
   */
  maxFailures: z.int().min(1).default(20),
});

/** How facts, episodes, procedures, notes, compaction, insights and consolidation are made. */
export interface UpkeepConfig extends z.input<typeof taskOptionsSchema> {}

/** How the tasks of threads and owners are done, and procedures written. */
type TaskOptions = z.output<typeof taskOptionsSchema>;

/** What every background job needs. */
export type JobRuntime = Runtime<{
  /** Whether log lines may quote a conversation. */
  readonly telemetry: { readonly content: boolean };
}>;

/** What the tasks of threads need. */
export type TaskRuntime = JobRuntime & Runtime<{ readonly upkeep: TaskOptions }>;
