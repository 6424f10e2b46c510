import type { ShownPart } from "../conversation/shown-turns.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import { clipped, mostThatFit } from "../text/storable-text.js";
import { blockTokens, headingTokens } from "./memory-block.js";
import { lineOf, type MemorySection, sectionOf } from "./memory-lines.js";
import { memoryParts, noMemories, type Recalled, type RecalledMemories } from "./recalled.js";

/**
 * `found` cut to `budgetTokens`, headings included, the summary not. In order: changes and
 * consents, pinned memories, best matches (a third of the budget), the profile, the other parts;
 * insights last. Skips what is too long, but cuts the best hit. @param asked ids of profile
 * memories that fit the question, best first
 */
export function fitBudget(
  found: Recalled,
  budgetTokens: number,
  asked: readonly string[] = [],
): Recalled {
  if (!found.epoch.isNew) return fitAdditions(found, budgetTokens * askedShare);
  if (wholeTokens(blockTokens(found, budgetTokens + 1)) <= budgetTokens) return found;
  const { changes } = found;
  const steps = [
    ...changes.top.map((_, index) => ({
      changes: { ...changes, top: changes.top.slice(0, index + 1) },
    })),
    ...found.consents.map((_, index) => ({ consents: found.consents.slice(0, index + 1) })),
  ];
  const all = memoryParts.reduce((count, part) => count + found.memories[part].length, 0);
  // All count as omitted until they are chosen.
  const none = { ...found.memories, ...noMemories, omitted: found.memories.omitted + all };
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

/** Keeps the epoch's block and cuts the additions. */
function fitAdditions(found: Recalled, budgetTokens: number): Recalled {
  const { profile, rest, notes, omitted } = found.memories;
  const added = { ...found.memories, profile: [], rest: [], notes: [], omitted: 0 };
  const alone = { ...found, epoch: { ...found.epoch, isNew: true, earlier: [] }, memories: added };
  const { memories, changes, consents } = fitBudget(alone, budgetTokens);
  return { ...found, changes, consents, memories: { ...memories, profile, rest, notes, omitted } };
}

/** Sums in another order differ by less than this tolerance. */
function wholeTokens(tokens: number): number {
  return Math.ceil(tokens - 1e-6);
}

type Pick = {
  readonly part: ShownPart;
  readonly place: number;
  readonly shown: RecalledMemories[ShownPart][number];
};

function fittingMemories(
  shown: Recalled,
  order: readonly Pick[],
  budgetTokens: number,
): RecalledMemories {
  const withPicks = (picks: readonly Pick[]): RecalledMemories => ({
    ...shown.memories,
    ...partsWith(picks),
    omitted: shown.memories.omitted - picks.length,
  });
  const tokensOf = (picks: readonly Pick[]) =>
    wholeTokens(blockTokens({ ...shown, memories: withPicks(picks) }));
  const picks: Pick[] = [];
  const sections = new Set<MemorySection>();
  const lines = new Set<string>();
  let used = 0;
  const takes = (pick: Pick): boolean => {
    const { part } = pick;
    const place = part === "notes" ? picks.filter((other) => other.part === part).length : 0;
    const memory = memoryOf(pick.shown);
    const section = sectionOf(part, memory);
    const isNew = !sections.has(section);
    const line = lineOf(part, memory, place);
    // Sums suffice: a new section adds its heading, a memory its line, unless it is there.
    const tokens =
      picks.length === 0 || (isNew && part === "notes")
        ? tokensOf([...picks, pick])
        : used + (lines.has(line.line) ? 0 : line.tokens + (isNew ? headingTokens(section) : 0));
    if (wholeTokens(tokens) > budgetTokens) return false;
    lines.add(line.line);
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
  // The notice of omitted memories changes its length with the count.
  while (picks.length > 0 && tokensOf(picks) > budgetTokens) picks.pop();
  return withPicks(picks);
}

function partsWith(picks: readonly Pick[]): Record<ShownPart, never[]> {
  const parts = { profile: [], relevant: [], episodes: [], notes: [], related: [], rest: [] };
  const placed = picks.toSorted((first, second) => first.place - second.place);
  for (const { part, shown } of placed) parts[part].push(shown as never);
  return parts;
}

/** The profile keeps most of the budget. */
const askedShare = 1 / 3;

function inOrder(found: RecalledMemories, budgetTokens: number, asked: readonly string[]): Pick[] {
  const picks = memoryParts.flatMap((part) =>
    found[part].map((shown, place) => ({ part, place, shown })),
  );
  const [facts, last] = split(picks, (pick) => !ranksLast(memoryOf(pick.shown)));
  const [pinned, others] = split(
    facts,
    ({ part, shown }) => part === "profile" && memoryOf(shown).pinned,
  );
  const first = bestAsked(others, budgetTokens * askedShare, asked);
  return [...pinned, ...first, ...others.filter((pick) => !first.includes(pick)), ...last];
}

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

function split(picks: readonly Pick[], isFirst: (pick: Pick) => boolean): [Pick[], Pick[]] {
  return [picks.filter(isFirst), picks.filter((pick) => !isFirst(pick))];
}

/** Shorter cuts say nothing. */
const shortestCut = 40;

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
