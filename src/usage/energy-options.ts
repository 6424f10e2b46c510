import { z } from "zod";

/** Far more than any tenant spends; keeps sums of units exact enough. */
const mostUnits = 1e12;

export const energyOptionsSchema = z.strictObject({
  /**
   * Units that a tenant has when it is full, a unit being 100 tokens of a model. A turn's background calls take some
   * 3,000 tokens, so the default is a burst of over 3,000 turns; what was used is back after two hours. Raise it for a tenant
   * with more than some 1,600 turns an hour, which includes everybody where there are no tenants. Null: calls are counted,
   * and nothing waits.
   *
   * @default 100_000
   */
  capacityUnits: z.number().min(1).max(mostUnits).nullable().default(100_000),
  /**
   * Share of `capacityUnits` below which work that can wait does so: notes, compaction, insights, consolidation. The rest
   * is for summaries and facts. Raise it when summaries come late at peak hours.
   *
   * @default 0.2
   */
  lowBelow: z.number().min(0).max(1).default(0.2),
});

/** How much background calls of models may take. */
export interface EnergyConfig extends z.input<typeof energyOptionsSchema> {}

/** How much background calls of models may take. */
export type EnergyOptions = z.output<typeof energyOptionsSchema>;

/** Tokens of a unit, input and output alike: a note takes some ten units then. */
export const tokensPerUnit = 100;

/**
 * After so long a call's units are back: a tenant may use half of its capacity an hour, or all of it at once and nothing for
 * two hours.
 */
export const refillMs = 2 * 3_600_000;

/** Days for which calls and events are kept, and statistics look back: a quarter, to compare months. */
export const keepDays = 90;
