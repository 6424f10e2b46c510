import { estimateTokens } from "../domain/estimate-tokens.js";
import { memoryBlock } from "./memory-block.js";
import type { Recalled, RecalledMemories } from "./recall.js";

/**
 * `found` cut to what its memory block holds within `budgetTokens`, headings and all, the conversation's summary apart.
 *
 * What changed and what waits for consent go first, then the profile, what fits the question, episodes, notes and links,
 * each in its order, as long as there is room. What is too long is passed over.
 */
export function fitBudget(found: Recalled, budgetTokens: number): Recalled {
  if (blockTokens(found) <= budgetTokens) return found;
  const steps = [
    ...found.changes.top.map((_, index) => ({
      changes: { ...found.changes, top: found.changes.top.slice(0, index + 1) },
    })),
    ...found.consents.map((_, index) => ({ consents: found.consents.slice(0, index + 1) })),
  ];
  let shown: Recalled = {
    ...found,
    changes: { ...found.changes, count: 0, top: [] },
    consents: [],
    memories: noMemories,
  };
  for (const step of steps) {
    const next = { ...shown, ...step };
    if (blockTokens(next) <= budgetTokens) shown = next;
  }
  return { ...shown, memories: fittingMemories(shown, found.memories, budgetTokens) };
}

const noMemories: RecalledMemories = { profile: [], relevant: [], episodes: [], notes: [], related: [] };
const order = ["profile", "relevant", "episodes", "notes", "related"] as const;

function fittingMemories(shown: Recalled, found: RecalledMemories, budgetTokens: number): RecalledMemories {
  const tokensOf = (memories: RecalledMemories) => blockTokens({ ...shown, memories });
  const kept: RecalledMemories[] = [noMemories];
  let used = tokensOf(noMemories);
  for (const part of order) {
    for (const item of found[part]) {
      const before = kept.at(-1) as RecalledMemories;
      const next = { ...before, [part]: [...before[part], item] };
      // A heading comes with the first; then a line is the same everywhere, and the whole need not be written again.
      const tokens =
        before[part].length === 0
          ? tokensOf(next)
          : used +
            lineTokens(shown, { ...noMemories, [part]: [item] }, { ...noMemories, [part]: [item, item] });
      // What is added up is a little too much: the whole is written again before anything is left out.
      const exact = tokens > budgetTokens ? tokensOf(next) : tokens;
      if (exact > budgetTokens) continue;
      kept.push(next);
      used = exact;
    }
  }
  return kept.findLast((memories) => tokensOf(memories) <= budgetTokens) ?? noMemories;
}

/** What a line costs more in a block that has it twice. */
function lineTokens(shown: Recalled, once: RecalledMemories, twice: RecalledMemories): number {
  const alone = { ...shown, changes: { ...shown.changes, count: 0 }, consents: [] };
  return blockTokens({ ...alone, memories: twice }) - blockTokens({ ...alone, memories: once });
}

function blockTokens(recalled: Recalled): number {
  return estimateTokens(memoryBlock({ ...recalled, summary: null }) ?? "");
}
