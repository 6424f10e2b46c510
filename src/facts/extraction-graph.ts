import { backgroundJob } from "../jobs/background-graph.js";
import { type TaskClaim, taskSteps } from "../jobs/thread-task.js";
import type { WriteOutcome } from "../memories/write/write-runtime.js";
import {
  type ChosenFact,
  chooseFacts,
  type FactCandidate,
  type FactsRuntime,
  type RejectedFact,
} from "./choose-facts.rule.js";
import {
  type ChosenRemoval,
  chooseRemovals,
  type RemovalCandidate,
  type RemovalProblem,
} from "./choose-removals.rule.js";
import { proposeFacts } from "./extract-facts.js";
import { type ExtractionWork, findExtractionWork, prepareExtraction } from "./load-extraction.js";
import { saveFacts } from "./save-facts.js";

/** What the steps of extraction make. */
interface Extracted {
  /** What the model proposes. */
  candidates: FactCandidate[];
  /** What it takes the user to want forgotten. */
  removals: RemovalCandidate[];
  chosen: ChosenFact[];
  rejected: RejectedFact[];
  removing: ChosenRemoval[];
  kept: RemovalProblem[];
  outcomes: WriteOutcome[];
}

/**
 * The job that extracts the facts of what a thread's user said since the last time: load → extract → validate → save.
 *
 * Only the user's own messages are material.
 */
export function createExtractionJob(deps: FactsRuntime) {
  return backgroundJob<TaskClaim, ExtractionWork, Extracted>(deps, {
    ...taskSteps(deps, "extract", "Extracting facts from"),
    name: "extraction",
    fresh: { candidates: [], removals: [], chosen: [], rejected: [], removing: [], kept: [], outcomes: [] },
    load: async (claim) => (await findExtractionWork(deps, claim)) ?? "lost",
    prepare: (claim, work) => prepareExtraction(deps, claim, work),
    make: async ({ work }, renew) => proposeFacts(deps, work, renew),
    validate({ work, candidates, removals }) {
      const { minConfidence, minImportance, writesPerTurn, writesPerDay } = deps.config.memories;
      const messages = work.messages.map(({ text }) => text);
      const memories = work.forgettable.map(({ id }) => id);
      const { chosen: removing, rejected: kept } = chooseRemovals(removals, {
        ...{ messages, memories, perMessage: writesPerTurn },
      });
      const facts = chooseFacts(candidates, {
        policy: deps.config.policy,
        messages,
        removals: removing,
        removed: { facts: work.removed, messages: work.messages },
        known: work.known,
        minConfidence,
        minImportance,
        perMessage: writesPerTurn,
        inAll: Math.max(0, writesPerDay - work.writtenToday),
      });
      return { ...facts, removing, kept };
    },
    save: async (extracted, renew) => ({ outcomes: await saveFacts(deps, extracted, renew) }),
  });
}
