import { z } from "zod";
import { dayMs } from "../../clock.js";
import type { WriteRuntime } from "../../memories/write/write-types.js";
import type { Runtime } from "../../runtime.js";
import type { TaskRuntime } from "../../work/jobs-options.js";

export const consolidationOptionsSchema = z.strictObject({
  /**
   * Whether a model merges memories with the same meaning. Without similar memories it is not
   * called.
   * @default true
   */
  enabled: z.boolean().default(true),
  /**
   * Tokens per tenant and day, by UTC: some twenty full runs, or hundreds of the usual two or three
   * calls. Over budget, pairs with votes are finished, and others wait for the next day.
   * @default 500_000
   */
  budgetTokens: z.int().min(0).default(500_000),
});

/** Duplicates are not urgent. */
export const everyMs = dayMs;
/**
 * Per owner and run: 15 to 40 calls, since a pair takes at least two votes, and five before a
 * memory is hidden.
 */
export const maxPairs = 50;
/** With many more, models confuse them. */
export const pairsPerCall = 8;
/** An unchanged pair is compared again only after this time. */
export const fingerprintsForMs = 14 * dayMs;

type ConsolidationOptions = z.output<typeof consolidationOptionsSchema>;

export type ConsolidationRuntime = TaskRuntime &
  WriteRuntime &
  Runtime<{ readonly consolidation: ConsolidationOptions }>;

export const consolidator = "worker:consolidation";
