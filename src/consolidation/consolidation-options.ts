import { z } from "zod";
import { dayMs } from "../clock.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { WriteRuntime } from "../memories/write/write-runtime.js";
import type { Runtime } from "../runtime.js";

export const consolidationOptionsSchema = z.strictObject({
  /**
   * Whether memories with the same meaning are merged in the background. Needs a model. On: long-term users repeat
   * themselves, and an owner without similar memories costs no call. @default true
   */
  enabled: z.boolean().default(true),
  /**
   * Tokens for all owners of a tenant in a day, by UTC: some twenty full runs, and hundreds of the usual two or three
   * calls. Pairs with votes are finished; other owners wait for the next day. @default 500_000
   */
  budgetTokens: z.int().min(0).default(500_000),
});

/** Duplicates are no hurry. Each tenant has its own time of day, which spreads the load. */
export const everyMs = dayMs;
/** Per owner and run. Each takes at least two votes, five before anything is hidden: 15 to 40 calls. */
export const mostPairs = 50;
/** With many more, models begin to mix them up. */
export const pairsPerCall = 8;
/** How long a compared pair is not asked about again. With other words it is compared anew. */
export const fingerprintsForMs = 14 * dayMs;

export interface ConsolidationConfig extends z.input<typeof consolidationOptionsSchema> {}

type ConsolidationOptions = z.output<typeof consolidationOptionsSchema>;

export type ConsolidationRuntime = TaskRuntime &
  WriteRuntime &
  Runtime<{ readonly consolidation: ConsolidationOptions }>;

export const consolidator = "worker:consolidate";
