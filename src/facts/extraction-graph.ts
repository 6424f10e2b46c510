import { backgroundGraph } from "../jobs/background-graph.js";
import { type TaskClaim, taskSteps } from "../jobs/thread-task.js";
import type { WriteOutcome } from "../memories/write/write-runtime.js";
import {
  type ChosenFact,
  chooseFacts,
  type FactCandidate,
  type FactsRuntime,
  type RejectedFact,
} from "./choose-facts.rule.js";
import { proposeFacts } from "./extract-facts.js";
import { type ExtractionWork, loadExtraction } from "./load-extraction.js";
import { saveFacts } from "./save-facts.js";

/** What the steps of extraction make. */
interface Extracted {
  /** What the model proposes. */
  candidates: FactCandidate[];
  chosen: ChosenFact[];
  rejected: RejectedFact[];
  outcomes: WriteOutcome[];
}

/**
 * The graph that extracts the facts of what a thread's user said since the last time: load → extract → validate → save.
 *
 * Only the user's own messages are material.
 */
export function createExtractionGraph(deps: FactsRuntime) {
  return backgroundGraph<TaskClaim, ExtractionWork, Extracted>(deps, {
    ...taskSteps(deps, "extract", "Extracting facts from"),
    name: "extraction",
    fresh: { candidates: [], chosen: [], rejected: [], outcomes: [] },
    load: (claim) => loadExtraction(deps, claim),
    make: async ({ work }, renew) => ({ candidates: await proposeFacts(deps, work, renew) }),
    validate({ work, candidates }) {
      const { minConfidence, minImportance, writesPerTurn, writesPerDay } = deps.config.memories;
      return chooseFacts(candidates, {
        policy: deps.config.policy,
        messages: work.messages.map(({ text }) => text),
        known: work.known,
        minConfidence,
        minImportance,
        perMessage: writesPerTurn,
        inAll: Math.max(0, writesPerDay - work.writtenToday),
      });
    },
    save: async (extracted, renew) => ({ outcomes: await saveFacts(deps, extracted, renew) }),
  });
}
