import { z } from "zod";
import { dayMs } from "../../clock.js";

export const insightsOptionsSchema = z.strictObject({
  /**
   * Whether a model infers in the background what users did not say, such as how their preferences
   * change: one call of some 1,500 tokens per user and day of use. Insights rank below stated
   * facts; `memories.list({ scope, kinds: ["insight"] })` lists them.
   * @default true
   */
  enabled: z.boolean().default(true),
});

export const insightConstants = {
  /** Interval per user. Insights are about what lasts. */
  everyMs: dayMs,
  /** Per run. More do not fit into the answer's 220 tokens. */
  most: 3,
};

export type InsightsOptions = z.output<typeof insightsOptionsSchema> &
  Readonly<typeof insightConstants>;
