import { z } from "zod";

/** Far more than any tenant spends; keeps sums exact enough. */
const mostUnits = 1e12;

export const energyOptionsSchema = z.strictObject({
  /**
   * Units of a full tenant, each 100 tokens of a model. A turn's background calls take some 3,000 tokens, so the
   * default is a burst of over 3,000 turns; spent units are back after two hours. Raise it for a tenant with more than
   * some 1,600 turns an hour (all without a tenant are one). Null: nothing waits. @default 100_000
   */
  capacityUnits: z.number().min(1).max(mostUnits).nullable().default(100_000),
  /**
   * Share of `capacityUnits` below which notes, compaction, insights and consolidation wait. The rest is for summaries
   * and facts. Raise it when summaries come late at peak hours. @default 0.2
   */
  lowBelow: z.number().min(0).max(1).default(0.2),
});

/** Budget of background calls of models. */
export interface EnergyConfig extends z.input<typeof energyOptionsSchema> {}

export type EnergyOptions = z.output<typeof energyOptionsSchema>;

/** Tokens, input and output alike: a note takes some ten units. */
export const tokensPerUnit = 100;

/** A tenant may spend half of its capacity an hour, or all at once and then nothing for two hours. */
export const refillMs = 2 * 3_600_000;

/** Days of records, and of statistics at most: a quarter, to compare months. */
export const keepDays = 90;
