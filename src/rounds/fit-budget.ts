import type { ShownPart } from "../conversation/shown-turns.js";
import { givesWay, type MemoryItem } from "../memories/item/memory.js";
import { clipped, mostThatFit } from "../text/storable-text.js";
import { blockTokens, headingTokens } from "./memory-block.js";
import { lineOf, type MemorySection, sectionOf } from "./memory-lines.js";
import { memoryParts, noMemories, partOf, type Recalled, type RecalledMemories } from "./recalled.js";

/**
 * `found` cut to what its memory block holds within `budgetTokens`, headings and all, the conversation's summary apart.
 *
 * What changed and what waits for consent go first, then what is pinned. Of the rest, what fits the question best has a
 * third of the budget before the profile, what else fits, episodes, notes, links and all others, each in its order, as long
 * as there is room; of all of them insights come last. What is too long is passed over, but the first that fits the
 * question is cut instead. What is left out is counted.
 *
 * @param asked ids of those in the profile that fit the question, best first. @default none
 */
export function fitBudget(found: Recalled, budgetTokens: number, asked: readonly string[] = []): Recalled {
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
  const order = inOrder(found.memories, budgetTokens, asked);
  return { ...shown, memories: fittingMemories(shown, order, budgetTokens) };
}

/** Sums of the same numbers in another order differ by less than what is taken off. */
function wholeTokens(tokens: number): number {
  return Math.ceil(tokens - 1e-6);
}

/** A memory that there is room for, and its place in its part. */
interface Pick {
  readonly part: ShownPart;
  readonly place: number;
  readonly shown: RecalledMemories[ShownPart][number];
}

function fittingMemories(shown: Recalled, order: readonly Pick[], budgetTokens: number): RecalledMemories {
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
  for (const pick of order) {
    if (takes(pick) || pick.part !== "relevant" || pick.place > 0) continue;
    const cut = cutToFit(pick, (shorter) => tokensOf([...picks, shorter]) <= budgetTokens);
    if (cut) takes(cut);
  }
  // What is said of how much is left out grows shorter with each that is taken, or longer.
  while (picks.length > 0 && tokensOf(picks) > budgetTokens) picks.pop();
  return withPicks(picks);
}

/** `picks` in their parts, in the order in which they were found. */
function partsWith(picks: readonly Pick[]): Record<ShownPart, never[]> {
  const parts = emptyParts();
  const placed = picks.toSorted((first, second) => first.place - second.place);
  for (const { part, shown } of placed) parts[part].push(shown as never);
  return parts;
}

const emptyParts = (): Record<ShownPart, never[]> => ({
  ...{ profile: [], relevant: [], episodes: [], notes: [], related: [], rest: [] },
});

/** Share of the budget that what fits the question has before the profile: most of it stays for what is always shown. */
const askedShare = 1 / 3;

/** All that was found, in the order in which there is room for it. */
function inOrder(found: RecalledMemories, budgetTokens: number, asked: readonly string[]): Pick[] {
  const picks = memoryParts.flatMap((part) => found[part].map((shown, place) => ({ part, place, shown })));
  const [facts, last] = split(picks, (pick) => !givesWay(memoryOf(pick.shown)));
  const [pinned, others] = split(facts, ({ part, shown }) => part === "profile" && memoryOf(shown).pinned);
  const first = bestAsked(others, budgetTokens * askedShare, asked);
  return [...pinned, ...first, ...others.filter((pick) => !first.includes(pick)), ...last];
}

/** What fits the question best of `picks`: of the profile, then of what was searched, then the first episode. */
function bestAsked(picks: readonly Pick[], budgetTokens: number, asked: readonly string[]): Pick[] {
  const fitting = asked.flatMap(
    (id) => picks.find(({ part, shown }) => part === "profile" && memoryOf(shown).id === id) ?? [],
  );
  const found = picks.filter(
    ({ part, place }) => part === "relevant" || (part === "episodes" && place === 0),
  );
  let used = 0;
  return [...fitting, ...found].filter(({ part, shown }) => {
    const { tokens } = lineOf(part, memoryOf(shown), 0);
    if (used + tokens > budgetTokens) return false;
    used += tokens;
    return true;
  });
}

/** Those of `picks` that are so, and the others. */
function split(picks: readonly Pick[], isSo: (pick: Pick) => boolean): [Pick[], Pick[]] {
  return [picks.filter(isSo), picks.filter((pick) => !isSo(pick))];
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
