import { backgroundJob } from "../jobs/background-graph.js";
import { type OwnerTaskClaim, ownerTaskSteps } from "../jobs/owner-task.js";
import type { WriteOutcome } from "../memories/write/write-runtime.js";
import {
  type ChosenInsight,
  chooseInsights,
  type InsightCandidate,
  type InsightProblem,
} from "./choose-insights.rule.js";
import { type InsightsRuntime, type InsightsWork, loadInsights } from "./load-insights.js";
import { proposeInsights } from "./propose-insights.js";
import { saveInsights } from "./save-insights.js";

/** What the steps make. */
interface Understood {
  /** What the model proposes. */
  candidates: InsightCandidate[];
  chosen: ChosenInsight[];
  rejected: InsightProblem[];
  outcomes: WriteOutcome[];
}

/**
 * The job that makes insights into a user: load → insights → validate → save. It makes none before a day has passed since
 * the last, or where nothing was said or learned since.
 */
export function createInsightsJob(deps: InsightsRuntime) {
  return backgroundJob<OwnerTaskClaim, InsightsWork, Understood>(deps, {
    ...ownerTaskSteps(deps, "insights", "Making insights into a user"),
    name: "insights",
    fresh: { candidates: [], chosen: [], rejected: [], outcomes: [] },
    load: (claim) => loadInsights(deps, claim),
    make: async ({ claim, work }) => ({ candidates: await proposeInsights(deps, work, claim.attempt) }),
    validate: ({ work: { sources }, candidates }) =>
      chooseInsights(candidates, { sources, most: deps.config.insights.most }),
    save: async (understood) => ({ outcomes: await saveInsights(deps, understood) }),
  });
}
