import { z } from "zod";
import { dayMs } from "../clock.js";

export const insightsOptionsSchema = z.strictObject({
  /**
   * Whether a model infers in the background what users did not say: how they like to be met, and how their preferences
   * change. Needs a model. One call of some 1,500 tokens per user and day of use. An insight ranks below what was said,
   * and is listed by `memories.list({ scope, kinds: ["insight"] })`. @default true
   */
  enabled: z.boolean().default(true),
});

export const insightConstants = {
  /** Between two runs for a user. Insights are about what lasts, and show over days. */
  everyMs: dayMs,
  /** Per run. More do not fit the answer's 220 tokens. */
  most: 3,
};

export interface InsightsConfig extends z.input<typeof insightsOptionsSchema> {}

export type InsightsOptions = z.output<typeof insightsOptionsSchema> & Readonly<typeof insightConstants>;
