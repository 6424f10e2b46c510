import { backgroundJob } from "../jobs/background-graph.js";
import { keepProgress, type OwnerTaskClaim, ownerTaskSteps } from "../jobs/owner-task.js";
import { askJudge } from "./ask-judge.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import {
  type ConsolidationWork,
  loadConsolidation,
  progressOf,
  type VotedPair,
} from "./load-consolidation.js";
import { type SettledPair, saveConsolidation } from "./save-consolidation.js";

/** What the steps of consolidation make. */
interface ConsolidationMade {
  /** The pairs of which enough was said. */
  judged: readonly VotedPair[];
  tokens: number;
  calls: number;
  settled: readonly SettledPair[];
}

/**
 * The job that consolidates what is known of a user or an app: load → consolidate → validate → save.
 *
 * What the model said is kept after each call: a worker that takes over asks only what was not asked yet.
 */
export function createConsolidationJob(deps: ConsolidationRuntime) {
  return backgroundJob<OwnerTaskClaim, ConsolidationWork, ConsolidationMade>(deps, {
    ...ownerTaskSteps(deps, "consolidate", "Consolidating"),
    name: "consolidation",
    fresh: { judged: [], tokens: 0, calls: 0, settled: [] },
    load: (claim) => loadConsolidation(deps, claim),
    async make({ claim, work }, renew) {
      const { pairs, tokens, calls } = await askJudge(deps, work, {
        before: renew,
        after: (soFar) => keepProgress(deps.db, claim, progressOf(work, soFar)),
      });
      return { judged: pairs, tokens, calls };
    },
    // Verdicts are checked as they are read; what may come of them is decided under the owner's lock.
    validate: ({ judged }) => ({ judged }),
    save: async ({ claim, work, judged }) => ({
      settled: await saveConsolidation(deps, { claim, work, pairs: judged }),
    }),
  });
}
