import { z } from "zod";

/** Sums stay exact up to here, and no tenant spends as much. */
const maxUnits = 1e12;

export const energyOptionsSchema = z.strictObject({
  /**
   * A tenant's soft budget for two hours, in units of 100 tokens. A turn's background calls take
   * some 30 units. Raise it above some 1,600 turns an hour (calls without a tenant share one).
   * Null: no limit.
   * @default 100_000
   */
  capacityUnits: z.number().min(1).max(maxUnits).nullable().default(100_000),
  /**
   * Share of `capacityUnits` at or below which notes, compaction, insights and consolidation wait;
   * summaries and facts never do. Raise it when summaries come late at peak hours.
   * @default 0.2
   */
  lowBelow: z.number().min(0).max(1).default(0.2),
});

export type EnergyOptions = z.output<typeof energyOptionsSchema>;

/** Input and output tokens count the same. A note takes some ten units. */
export const tokensPerUnit = 100;

/** Spent units return after this time. */
export const refillMs = 2 * 3_600_000;

/** Days that usage records and statistics cover: a quarter, to compare months. */
export const keepDays = 90;
