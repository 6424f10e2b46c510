import { defineWork } from "../../work/define-work.js";
import { keepProgress } from "../../work/work-table.js";
import { markChangedOwners, maxMarked } from "./changed-owners.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { askDoubts } from "./judge-doubts.js";
import { askJudge } from "./judge-pairs.js";
import { type ConsolidationWork, loadConsolidation, progressOf } from "./load-consolidation.js";
import { type Consolidated, saveConsolidation } from "./save-consolidation.js";

/** Hourly: it reads all owners, and is not urgent. */
const markEveryMs = 3_600_000;

/**
 * Asks a model about pairs of similar memories: merges those with the same meaning, closes those
 * that a newer one replaces. Also asks whether memories in doubt hold. Saves votes after each call: a worker that takes over asks only about
 * pairs without votes.
 */
export function defineConsolidation(deps: ConsolidationRuntime) {
  const { db, config } = deps;
  return defineWork<ConsolidationWork, Consolidated>(
    {
      kind: "consolidation",
      of: "owner",
      policy: {
        enabled: config.consolidation.enabled,
        tries: config.upkeep,
        op: "merge",
        waits: true,
      },
      mark: { everyMs: markEveryMs, run: () => markChangedOwners(db, maxMarked) },
      fresh: { judged: [], doubts: [], tokens: 0, calls: 0, settled: [] },
      steps: {
        // What is in doubt, and pairs of similar memories without votes, if the day has tokens left.
        load: (claim) => loadConsolidation(deps, claim),
        // Whether what is in doubt holds; then the votes, kept after each call.
        ask: async ({ claim, work }, tools) => ({
          doubts: await askDoubts(deps, work.doubts, tools),
          ...(await askJudge(deps, work, tools, (pairs) =>
            keepProgress(db, claim, progressOf(work, pairs)),
          )),
        }),
        // `save` decides the effects, under the owner's lock.
        check: ({ judged }) => ({ judged }),
        save: async (made) => ({ settled: await saveConsolidation(deps, made) }),
      },
    },
    deps,
  );
}
