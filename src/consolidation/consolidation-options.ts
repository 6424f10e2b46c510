import { z } from "zod";
import { dayMs } from "../clock.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { WriteRuntime } from "../memories/write/write-runtime.js";
import type { Runtime } from "../runtime.js";

export const consolidationOptionsSchema = z.strictObject({
  /**
   * Whether what says the same in other words is merged in the background. Needs a model. On: who is remembered for long is
   * told the same things again, and an owner of whom nothing is alike costs no call.
   *
   * @default true
   */
  enabled: z.boolean().default(true),
  /**
   * Tokens for all owners of a tenant in a day, by UTC: some twenty full runs, and hundreds of the usual two or three calls.
   * What was begun is finished; owners who come after wait for the next day.
   *
   * @default 500_000
   */
  budgetTokens: z.int().min(0).default(500_000),
});

/**
 * How long after the last time an owner is looked at again, if anything changed. A day: doubles are no hurry. Each tenant
 * has a time of day of its own, so that the work of many is spread over the day; an owner's first time is its tenant's next one.
 */
export const everyMs = dayMs;
/**
 * Most pairs of an owner that a model is asked about at a time, the most alike first. Of each it is asked twice at least, and
 * three times before anything is hidden: some fifteen to thirty calls where there are so many.
 */
export const mostPairs = 50;
/** Pairs in one call. Many more, and models begin to mix them up. */
export const pairsPerCall = 8;
/** How long a model is not asked again about two memories that it compared. With other words they are compared anew. */
export const fingerprintsForMs = 14 * dayMs;

/** How memories that say the same are merged in the background. */
export interface ConsolidationConfig extends z.input<typeof consolidationOptionsSchema> {}

/** How memories that say the same are merged in the background, with defaults filled in. */
type ConsolidationOptions = z.output<typeof consolidationOptionsSchema>;

/** What consolidating takes. */
export type ConsolidationRuntime = TaskRuntime &
  WriteRuntime &
  Runtime<{ readonly consolidation: ConsolidationOptions }>;

/** How the audit trail names who consolidates. */
export const consolidator = "worker:consolidate";
