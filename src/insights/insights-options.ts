import { z } from "zod";
import { dayMs } from "../clock.js";

export const insightsOptionsSchema = z.strictObject({
  /**
   * Whether a model concludes in the background what users did not say in so many words: how they like to be met, what
   * changes in what they like. Needs a model. One call of some 1,500 tokens for each user and day of use, beside one for each
   * message that facts take. An insight counts for less than what was said, is listed by
   * `memories.list({ scope, kinds: ["insight"] })`, and is forgotten and erased as all else.
   *
   * @default true
   */
  enabled: z.boolean().default(true),
});

/** What goes with the settings and is none. */
export const insightConstants = {
  /** Least time between two runs for a user. Insights are about what lasts, and show over days. */
  everyMs: dayMs,
  /** Most insights of a run. More do not fit the answer's 220 tokens. */
  most: 3,
};

/** Whether insights into a user are made. */
export interface InsightsConfig extends z.input<typeof insightsOptionsSchema> {}

/** Whether, how often and how many insights into a user are made. */
export type InsightsOptions = z.output<typeof insightsOptionsSchema> & Readonly<typeof insightConstants>;
