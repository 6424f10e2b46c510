import type { ShownPart } from "../conversation/shown-turns.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { estimateTokens, readTokens } from "../text/estimate-tokens.js";
import { clipped, mostThatFit } from "../text/storable-text.js";
import { memoryBlock, memoryLine } from "./memory-block.js";
import { memoryParts, noMemories, partOf, type Recalled, type RecalledMemories } from "./recalled.js";

/**
 * `found` cut to what its memory block holds within `budgetTokens`, headings and all, the conversation's summary apart.
 *
 * What changed and what waits for consent go first, then the profile, what fits the question, episodes, notes, links and
 * the rest, each in its order, as long as there is room. What is too long is passed over, but the first that fits the
 * question is cut instead. What is left out is counted.
 */
export function fitBudget(found: Recalled, budgetTokens: number): Recalled {
  if (!exceeds(found.memories, budgetTokens) && blockTokens(found) <= budgetTokens) return found;
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
    if (blockTokens(next) <= budgetTokens) shown = next;
  }
  return { ...shown, memories: fittingMemories(shown, found.memories, budgetTokens) };
}

/** Whether the lines of `memories` alone surely exceed `mostTokens`: then the block need not be written to know it. */
function exceeds(memories: RecalledMemories, mostTokens: number): boolean {
  let tokens = 0;
  return memoryParts.some((part) =>
    partOf(memories, part).some((memory, place) => {
      tokens += lineTokens(memoryLine(part, memory, place).line);
      // Sums of the same numbers in another order differ by less.
      return tokens > mostTokens + 1;
    }),
  );
}

/** Tokens that a line adds to a block; of more than `most` it is only told that they are more. */
function lineTokens(line: string, most = Number.POSITIVE_INFINITY): number {
  const { tokens, end } = readTokens(`\n${line}`, 0, most);
  return end > line.length ? tokens : most + 1;
}

/** A memory that there is room for. */
interface Pick {
  readonly part: ShownPart;
  readonly shown: RecalledMemories[ShownPart][number];
}

function fittingMemories(shown: Recalled, found: RecalledMemories, budgetTokens: number): RecalledMemories {
  const withPicks = (picks: readonly Pick[]): RecalledMemories => ({
    ...shown.memories,
    ...Object.fromEntries(
      memoryParts.map((part) => [part, picks.filter((pick) => pick.part === part).map((pick) => pick.shown)]),
    ),
    leftOut: shown.memories.leftOut - picks.length,
  });
  const tokensOf = (picks: readonly Pick[]) => blockTokens({ ...shown, memories: withPicks(picks) });
  const picks: Pick[] = [];
  const sections = new Set<string>();
  let used = 0;
  /** Takes `pick` where there is room for it. */
  const takes = (pick: Pick): boolean => {
    const place = pick.part === "notes" ? picks.filter(({ part }) => part === pick.part).length : 0;
    const { section, line } = memoryLine(pick.part, memoryOf(pick.shown), place);
    // A section brings its heading; then each line is a line more, and the whole need not be written again.
    const tokens = sections.has(section)
      ? used + lineTokens(line, budgetTokens + 1 - used)
      : tokensOf([...picks, pick]);
    if (Math.ceil(tokens) > budgetTokens) return false;
    picks.push(pick);
    sections.add(section);
    used = tokens;
    return true;
  };
  for (const part of memoryParts) {
    for (const [index, item] of found[part].entries()) {
      const pick = { part, shown: item };
      if (takes(pick) || part !== "relevant" || index > 0) continue;
      const cut = cutToFit(pick, (shorter) => tokensOf([...picks, shorter]) <= budgetTokens);
      if (cut) takes(cut);
    }
  }
  // Lines are added up as they are written alone.
  while (picks.length > 0 && tokensOf(picks) > budgetTokens) picks.pop();
  return withPicks(picks);
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

function blockTokens(recalled: Recalled): number {
  return estimateTokens(memoryBlock({ ...recalled, summary: null, leftOut: null }) ?? "");
}
