import type { MemoryItem } from "../domain/memory.js";
import { countTokens } from "../llm/count-tokens.js";
import type { RecalledMemories } from "./recall.js";

/** Markup and label around one memory in the block. */
const tokensAround = 8;

/**
 * `memories` cut to `budgetTokens`: the profile goes first, then what fits the question, episodes, notes and
 * links, each in its order, as long as there is room.
 */
export function fitBudget(memories: RecalledMemories, budgetTokens: number): RecalledMemories {
  let left = budgetTokens;
  const fits = ({ text }: MemoryItem) => {
    const cost = countTokens(text, left) + tokensAround;
    if (cost > left) return false;
    left -= cost;
    return true;
  };
  return {
    profile: memories.profile.filter(fits),
    relevant: memories.relevant.filter(({ memory }) => fits(memory)),
    episodes: memories.episodes.filter(({ memory }) => fits(memory)),
    notes: memories.notes.filter(fits),
    related: memories.related.filter(fits),
  };
}
