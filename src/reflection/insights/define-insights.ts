import { benignCategories } from "../../memories/consent/consent-policy.rule.js";
import { defineWork } from "../../work/define-work.js";
import { chooseInsights } from "./choose-insights.rule.js";
import { type InsightsRuntime, type InsightsWork, loadInsights } from "./load-insights.js";
import { proposeInsights } from "./propose-insights.js";
import { saveInsights, type Understood } from "./save-insights.js";

/** Derives insights into a user, at most once a day, and only after new messages or memories. */
export function defineInsights(deps: InsightsRuntime) {
  const { insights, upkeep } = deps.config;
  return defineWork<InsightsWork, Understood>(
    {
      kind: "insights",
      of: "owner",
      policy: { enabled: insights.enabled, tries: upkeep, waits: true },
      fresh: { candidates: [], chosen: [], rejected: [], outcomes: [] },
      steps: {
        // What is known of the user and has changed.
        load: (claim) => loadInsights(deps, claim),
        // What they did not say, with the memories that it rests on.
        ask: async ({ claim, work }, { asking }) => ({
          candidates: await proposeInsights(deps, work, claim.attempt, asking),
        }),
        // Only benign ones that rest on several memories.
        check: ({ work: { sources }, candidates }) =>
          chooseInsights(candidates, {
            sources,
            most: insights.most,
            categories: benignCategories(deps.config.consent),
          }),
        save: async (understood) => ({ outcomes: await saveInsights(deps, understood) }),
      },
    },
    deps,
  );
}
