import type { JobKind } from "./job-kinds.rule.js";

/** What a worker has done and does. */
export interface WorkerStatus {
  /** Whether it takes jobs and the queues answered when they were last asked. */
  readonly ready: boolean;
  /** Jobs that ended since it was started; those of them that threw; those that run. */
  readonly done: number;
  readonly failed: number;
  readonly running: number;
  /** The same by kind. */
  readonly kinds: Readonly<Partial<Record<JobKind, { done: number; failed: number; running: number }>>>;
}

/** Most jobs of each worker that one look puts in the queues. */
export const queuedAtOnce = 2_000;
