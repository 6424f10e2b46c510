import { z } from "zod";
import { dayMs, longestSpanMs } from "../clock.js";

/** Far more than any tenant spends; keeps sums of units exact enough. */
const mostUnits = 1e12;

const energyOptionsSchema = z.strictObject({
  /**
   * Whether work that can wait (notes, compaction, insights, consolidation) waits while a tenant's energy is low. Calls
   * are counted in any case. `energy: false` says the same as `energy: { enabled: false }`.
   *
   * @default true
   */
  enabled: z.boolean().default(true),
  /** Tokens of a model that cost one unit, those read and those written alike: a note is some ten units then. @default 100 */
  tokensPerUnit: z.int().min(1).max(1_000_000).default(100),
  /**
   * Units that a tenant has when it is full: ten million tokens. A turn's background calls take some 3,000, so this is
   * a burst of over 3,000 turns. It stops what runs wild, and not an ordinary day; those without tenants are one tenant.
   *
   * @default 100_000
   */
  capacityUnits: z.number().min(1).max(mostUnits).default(100_000),
  /**
   * Units that come back in an hour: five million tokens, or some 1,600 turns an hour by day and night. An empty tenant is
   * above the low mark after 24 minutes, and full after two hours.
   *
   * @default 50_000
   */
  refillUnitsPerHour: z.number().min(0.001).max(mostUnits).default(50_000),
  /** Share of `capacityUnits` below which work that can wait does so; the rest of it is for summaries and facts. @default 0.2 */
  lowBelow: z.number().min(0).max(1).default(0.2),
  /** Days for which it is kept what each call took: a quarter, to compare months. @default 90 */
  keepUsageDays: z
    .int()
    .min(1)
    .max(Math.floor(longestSpanMs / dayMs))
    .default(90),
});

/** How much background calls of models may take. */
export interface EnergyConfig extends z.input<typeof energyOptionsSchema> {}

/** How much background calls of models may take. */
export type EnergyOptions = z.output<typeof energyOptionsSchema>;

/** The same as an option: true and false stand for `enabled` alone. */
export const energyOption = z
  .custom<EnergyConfig | boolean>()
  .transform((given) => (typeof given === "boolean" ? { enabled: given } : given))
  .pipe(energyOptionsSchema);
