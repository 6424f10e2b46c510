import { defineWork } from "../jobs/define-work.js";
import { threadWork } from "../jobs/settle-failure.js";
import { hastenWork } from "../jobs/work-table.js";
import type { WriteOutcome } from "../memories/write/write-types.js";
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

export interface Extracted {
  candidates: FactCandidate[];
  removals: RemovalCandidate[];
  chosen: ChosenFact[];
  rejected: RejectedFact[];
  removing: ChosenRemoval[];
  kept: RemovalProblem[];
  outcomes: WriteOutcome[];
}

/** Extracts facts from a thread's new user messages: load → facts → validate → save. */
export function defineFacts(deps: FactsRuntime) {
  const { memories, upkeep, policy } = deps.config;
  return defineWork<"facts", ExtractionWork, Extracted>(
    {
      ...threadWork,
      kind: "facts",
      from: -1,
      enabled: memories.extract,
      tries: upkeep,
      hasten: () => hastenWork(deps.db, "facts"),
      fresh: {
        candidates: [],
        removals: [],
        chosen: [],
        rejected: [],
        removing: [],
        kept: [],
        outcomes: [],
      },
      load: async (claim) => (await findExtractionWork(deps, claim)) ?? "lost",
      prepare: (claim, work) => prepareExtraction(deps, claim, work),
      make: ({ work }, tools) => proposeFacts(deps, work, tools),
      async validate({ work, candidates, removals }) {
        const { minConfidence, minImportance, factsPerMessage, writesPerTurn, writesPerDay } =
          memories;
        const messages = work.messages.map(({ text }) => text);
        const ids = work.known.map(({ id }) => id);
        const removalRules = { messages, memories: ids, perMessage: writesPerTurn };
        const { chosen: removing, rejected: kept } = await chooseRemovals(removals, removalRules);
        const facts = await chooseFacts(candidates, {
          policy,
          messages,
          removals: removing,
          known: work.known,
          minConfidence,
          minImportance,
          removed: { facts: work.removed, messages: work.messages },
          perMessage: factsPerMessage,
          inAll: Math.max(0, writesPerDay - work.writtenToday),
        });
        return { ...facts, removing, kept };
      },
      save: async (extracted) => ({ outcomes: await saveFacts(deps, extracted) }),
    },
    deps,
  );
}
