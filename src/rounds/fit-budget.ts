import type { ShownPart } from "../conversation/shown-turns.js";
import { givesWay, type MemoryItem } from "../memories/item/memory.js";
import { clipped, mostThatFit } from "../text/storable-text.js";
import { blockTokens, headingTokens } from "./memory-block.js";
import { lineOf, type MemorySection, sectionOf } from "./memory-lines.js";
import { memoryParts, noMemories, partOf, type Recalled, type RecalledMemories } from "./recalled.js";

/**
 * `found` cut to what its memory block holds within `budgetTokens`, headings and all, the conversation's summary apart.
 *
 * What changed and what waits for consent go first, then the profile, what fits the question, episodes, notes, links and
 * the rest, each in its order, as long as there is room; of all of them insights come last. What is too long is passed over, but the first that fits the
 * question is cut instead. What is left out is counted.
 */
export function fitBudget(found: Recalled, budgetTokens: number): Recalled {
  if (wholeTokens(blockTokens(found, budgetTokens + 1)) <= budgetTokens) return found;
  const steps = [
    ...found.changes.top.map((_, index) => ({
      changes: { ...found.changes, top: found.changes.top.slice(0, index + 1) },
    })),
    ...found.consents.map((_, index) => ({ consents: found.consents.slice(0, index + 1) })),
  ];
  const all = countOf(found.memories);
  // As long as what is left out is not known, it is taken to be all.
  const none = { ...found.memories, ...noMemories, leftOut: found.memories.leftOut + all };
  let shown: Recalled = {
    ...found,
    changes: { ...found.changes, count: 0, top: [] },
    consents: [],
    memories: none,
  };
  for (const step of steps) {
    const next = { ...shown, ...step };
    if (wholeTokens(blockTokens(next)) <= budgetTokens) shown = next;
  }
  return { ...shown, memories: fittingMemories(shown, found.memories, budgetTokens) };
}

/** Sums of the same numbers in another order differ by less than what is taken off. */
function wholeTokens(tokens: number): number {
  return Math.ceil(tokens - 1e-6);
}

/** A memory that there is room for. */
interface Pick {
  readonly part: ShownPart;
  readonly shown: RecalledMemories[ShownPart][number];
}

function fittingMemories(shown: Recalled, found: RecalledMemories, budgetTokens: number): RecalledMemories {
  const withPicks = (picks: readonly Pick[]): RecalledMemories => ({
    ...shown.memories,
    ...partsWith(picks),
    leftOut: shown.memories.leftOut - picks.length,
  });
  const tokensOf = (picks: readonly Pick[]) =>
    wholeTokens(blockTokens({ ...shown, memories: withPicks(picks) }));
  const picks: Pick[] = [];
  const sections = new Set<MemorySection>();
  let used = 0;
  /** Takes `pick` where there is room for it. */
  const takes = (pick: Pick): boolean => {
    const { part } = pick;
    const place = part === "notes" ? picks.filter((other) => other.part === part).length : 0;
    const memory = memoryOf(pick.shown);
    const section = sectionOf(part, memory);
    const isNew = !sections.has(section);
    // A section brings its heading, and each line is a line more: the whole need not be counted again.
    const tokens =
      picks.length === 0 || (isNew && section === "notes")
        ? tokensOf([...picks, pick])
        : used + lineOf(part, memory, place).tokens + (isNew ? headingTokens(section) : 0);
    if (wholeTokens(tokens) > budgetTokens) return false;
    picks.push(pick);
    sections.add(section);
    used = tokens;
    return true;
  };
  for (const pick of inOrder(found)) {
    if (takes(pick) || pick.part !== "relevant" || pick.shown !== found.relevant[0]) continue;
    const cut = cutToFit(pick, (shorter) => tokensOf([...picks, shorter]) <= budgetTokens);
    if (cut) takes(cut);
  }
  // What is said of how much is left out grows shorter with each that is taken, or longer.
  while (picks.length > 0 && tokensOf(picks) > budgetTokens) picks.pop();
  return withPicks(picks);
}

/** `picks` in their parts. */
function partsWith(picks: readonly Pick[]): Record<ShownPart, never[]> {
  const parts = emptyParts();
  for (const { part, shown } of picks) parts[part].push(shown as never);
  return parts;
}

const emptyParts = (): Record<ShownPart, never[]> => ({
  ...{ profile: [], relevant: [], episodes: [], notes: [], related: [], rest: [] },
});

/** All that was found, in the order in which there is room for it: see `givesWay`. */
function inOrder(found: RecalledMemories): Pick[] {
  const [first, last]: [Pick[], Pick[]] = [[], []];
  for (const part of memoryParts) {
    for (const shown of found[part]) (givesWay(memoryOf(shown)) ? last : first).push({ part, shown });
  }
  first.push(...last);
  return first;
}

/** Fewer characters of a memory say nothing. */
const shortestCut = 40;

/** `pick` with as much of its text as fits; null where that is hardly any. */
function cutToFit(pick: Pick, fits: (pick: Pick) => boolean): Pick | null {
  const { text } = memoryOf(pick.shown);
  const cut = (characters: number): Pick => {
    const shorter = (memory: MemoryItem) => ({ ...memory, text: clipped(text, characters) });
    const { shown } = pick;
    return {
      ...pick,
      shown: "memory" in shown ? { ...shown, memory: shorter(shown.memory) } : shorter(shown),
    };
  };
  if (text.length <= shortestCut) return null;
  const characters = mostThatFit(shortestCut, text.length - 1, (count) => fits(cut(count)));
  return characters === null ? null : cut(characters);
}

function memoryOf(shown: Pick["shown"]): MemoryItem {
  return "memory" in shown ? shown.memory : shown;
}

function countOf(memories: RecalledMemories): number {
  return memoryParts.reduce((count, part) => count + partOf(memories, part).length, 0);
}
