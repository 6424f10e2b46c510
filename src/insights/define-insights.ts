import { defineWork } from "../jobs/define-work.js";
import { benignCategories } from "../memories/guard/consent-policy.rule.js";
import type { WriteOutcome } from "../memories/write/write-types.js";
import {
  type ChosenInsight,
  chooseInsights,
  type InsightCandidate,
  type InsightProblem,
} from "./choose-insights.rule.js";
import { type InsightsRuntime, type InsightsWork, loadInsights } from "./load-insights.js";
import { proposeInsights } from "./propose-insights.js";
import { saveInsights } from "./save-insights.js";

export interface Understood {
  candidates: InsightCandidate[];
  chosen: ChosenInsight[];
  rejected: InsightProblem[];
  outcomes: WriteOutcome[];
}

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
        ask: async ({ claim: { attempt }, work }, { charge }) => ({
          candidates: await proposeInsights(deps, work, { attempt, charge }),
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
