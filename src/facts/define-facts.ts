import { defineWork } from "../work/define-work.js";
import { chooseFacts, type FactsRuntime } from "./choose-facts.rule.js";
import { chooseRemovals } from "./choose-removals.rule.js";
import { proposeFacts } from "./extract-facts.js";
import { type ExtractionWork, findExtractionWork, prepareExtraction } from "./load-extraction.js";
import { type Extracted, saveFacts } from "./save-facts.js";

/** Extracts facts from a thread's new user messages: load → limit → ask → check → save. */
export function defineFacts(deps: FactsRuntime) {
  const { memories, upkeep, policy: categories } = deps.config;
  return defineWork<ExtractionWork, Extracted>(
    {
      kind: "facts",
      of: "thread",
      policy: { enabled: memories.extract, tries: upkeep, from: -1, gathers: true },
      fresh: {
        candidates: [],
        removals: [],
        chosen: [],
        rejected: [],
        removing: [],
        kept: [],
        outcomes: [],
      },
      steps: {
        // The user's messages since the last job, and the most important memories.
        load: async (claim) => (await findExtractionWork(deps, claim)) ?? "lost",
        // Without recalled text, cut to one job, with similar memories; ends jobs without work.
        limit: (claim, work) => prepareExtraction(deps, claim, work),
        // What of them to remember, and what to forget.
        ask: ({ work }, tools) => proposeFacts(deps, work, tools),
        // Only what the user said in these words, within the caps; requests to forget come first.
        async check({ work, candidates, removals }) {
          const { chosen: removing, rejected: kept } = await chooseRemovals(removals, {
            messages: work.messages.map(({ text }) => text),
            memories: work.known.map(({ id }) => id),
            perMessage: memories.writesPerTurn,
          });
          const facts = await chooseFacts(candidates, {
            policy: categories,
            messages: work.messages.map(({ text }) => text),
            removals: removing,
            known: work.known,
            minConfidence: memories.minConfidence,
            minImportance: memories.minImportance,
            removed: { facts: work.removed, messages: work.messages },
            perMessage: memories.factsPerMessage,
            inAll: Math.max(0, memories.writesPerDay - work.writtenToday),
          });
          return { ...facts, removing, kept };
        },
        // Facts, removals, events and the thread's cursor, in one transaction.
        save: async (extracted) => ({ outcomes: await saveFacts(deps, extracted) }),
      },
    },
    deps,
  );
}
