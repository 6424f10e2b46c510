import type { BlockPart } from "../conversation/shown-turns.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import { clipped, mostThatFit } from "../text/storable-text.js";
import { blockTokens, headingTokens } from "./memory-block.js";
import { lineOf, type MemorySection, sectionOf } from "./memory-lines.js";
import {
  memoryParts,
  noMemories,
  partOf,
  type Recalled,
  type RecalledMemories,
  withoutTold,
} from "./recalled.js";

/**
 * `found` cut to `budgetTokens`, headings included, the summary not. In order: changes, consents
 * and unread messages, pinned memories, best matches (a third of the budget), the profile, the
 * other parts; insights last. Skips what is too long, but cuts the best hit. What a change tells in
 * full costs nothing: no list repeats it. @param asked ids of profile memories that fit the question, best first
 */
export function fitBudget(
  found: Recalled,
  budgetTokens: number,
  asked: readonly string[] = [],
): Recalled {
  if (!found.epoch.isNew) return fitAdditions(found, budgetTokens);
  if (isWithin(found, budgetTokens)) return found;
  const news = fittingNews(found, budgetTokens);
  const memories = withoutTold(found.memories, news.changes);
  const whole = { ...news, memories: found.memories };
  if (isWithin(whole, budgetTokens)) return whole;
  const order = inOrder({ ...news, memories }, budgetTokens, asked);
  // All count as omitted until they are chosen.
  const none = { ...memories, ...noMemories, omitted: memories.omitted + order.length };
  const kept = fittingMemories({ ...news, memories: none }, order, budgetTokens);
  return { ...news, memories: withTold(kept, memories, found.memories) };
}

function isWithin(found: Recalled, budgetTokens: number): boolean {
  return wholeTokens(blockTokens(found, budgetTokens + 1)) <= budgetTokens;
}

/** Without memories, which all count as omitted. The newest messages are shown first. */
function fittingNews(found: Recalled, budgetTokens: number): Recalled {
  const { changes, consents, unread, memories } = found;
  const count = memoryParts.reduce((sum, part) => sum + memories[part].length, memories.omitted);
  const steps: Partial<Recalled>[] = [
    ...changes.top.map((_, index) => ({
      changes: { ...changes, top: changes.top.slice(0, index + 1) },
    })),
    ...consents.map((_, index) => ({ consents: consents.slice(0, index + 1) })),
    ...unread.map((_, index) => ({ unread: unread.slice(unread.length - index - 1) })),
  ];
  let shown: Recalled = {
    ...found,
    changes: { ...changes, count: 0, top: [] },
    consents: [],
    unread: [],
    memories: { ...memories, ...noMemories, omitted: count },
  };
  for (const step of steps) {
    const next = { ...shown, ...step };
    if (isWithin(next, budgetTokens)) shown = next;
  }
  return shown;
}

/** As `found` has them: what was kept, and what changes tell in full. */
function withTold(
  kept: RecalledMemories,
  untold: RecalledMemories,
  found: RecalledMemories,
): RecalledMemories {
  const restored = memoryParts.map((part) => {
    const [shown, all] = [kept, untold].map(
      (memories) =>
        new Map(
          memories[part].map((each: MemoryItem | MemoryHit) => [memoryOf(each).id, each] as const),
        ),
    );
    const list = found[part].flatMap((each: MemoryItem | MemoryHit) => {
      const { id } = memoryOf(each);
      return shown?.get(id) ?? (all?.has(id) ? [] : each);
    });
    return [part, list] as const;
  });
  return { ...kept, ...Object.fromEntries(restored) };
}

/**
 * Keeps the epoch's block and cuts what the turn adds: a third of the budget for matches and news;
 * for what is always shown, as much as the epoch's profile left.
 */
function fitAdditions(found: Recalled, budgetTokens: number): Recalled {
  const { profile, rest, notes, omitted } = found.memories;
  const { added, earlier } = found.epoch;
  const opening = { ...found.epoch, isNew: true, earlier: [], added: {} };
  const matches = { ...found.memories, profile: [], rest: [], notes: [], omitted: 0 };
  const turn = fitBudget(
    { ...found, epoch: opening, memories: matches },
    budgetTokens * askedShare,
  );
  const alwaysShown = {
    ...noMemories,
    profile: partOf(added, "profile"),
    notes: partOf(added, "notes"),
  };
  const untold = withoutTold(alwaysShown, turn.changes);
  const shown = [found.memories, ...earlier.map(({ memories }) => memories)];
  const usedTokens = shown
    .flatMap((each) => partOf(each, "profile"))
    .reduce((sum, memory) => sum + lineOf("profile", memory, 0, found.timeZone).tokens, 0);
  const none = {
    ...turn,
    changes: { ...turn.changes, count: 0, top: [] },
    consents: [],
    unread: [],
  };
  const kept = fitBudget({ ...none, memories: untold }, Math.max(0, budgetTokens - usedTokens));
  return {
    ...found,
    changes: turn.changes,
    consents: turn.consents,
    unread: turn.unread,
    memories: { ...turn.memories, profile, rest, notes, omitted },
    epoch: {
      ...found.epoch,
      added: { profile: kept.memories.profile, notes: kept.memories.notes },
      addedOmitted: kept.memories.omitted,
    },
  };
}

/** Sums in another order differ by less than this tolerance. */
function wholeTokens(tokens: number): number {
  return Math.ceil(tokens - 1e-6);
}

type Pick = {
  readonly part: BlockPart;
  readonly place: number;
  readonly shown: RecalledMemories[BlockPart][number];
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
    const line = lineOf(part, memory, place, shown.timeZone);
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

function partsWith(picks: readonly Pick[]): Record<BlockPart, never[]> {
  const parts = { profile: [], relevant: [], episodes: [], notes: [], related: [], rest: [] };
  const placed = picks.toSorted((first, second) => first.place - second.place);
  for (const { part, shown } of placed) parts[part].push(shown as never);
  return parts;
}

/** The profile keeps most of the budget. */
const askedShare = 1 / 3;

function inOrder(
  { memories: found, timeZone }: Recalled,
  budgetTokens: number,
  asked: readonly string[],
): Pick[] {
  const picks = memoryParts.flatMap((part) =>
    found[part].map((shown, place) => ({ part, place, shown })),
  );
  const [facts, last] = split(picks, (pick) => !ranksLast(memoryOf(pick.shown)));
  const [pinned, others] = split(
    facts,
    ({ part, shown }) => part === "profile" && memoryOf(shown).pinned,
  );
  const first = bestAsked(others, budgetTokens * askedShare, { asked, timeZone });
  return [...pinned, ...first, ...others.filter((pick) => !first.includes(pick)), ...last];
}

function bestAsked(
  picks: readonly Pick[],
  budgetTokens: number,
  { asked, timeZone }: { readonly asked: readonly string[]; readonly timeZone: string },
): Pick[] {
  const fitting = asked.flatMap(
    (id) => picks.find(({ part, shown }) => part === "profile" && memoryOf(shown).id === id) ?? [],
  );
  const found = picks.filter(
    ({ part, place }) => part === "relevant" || (part === "episodes" && place === 0),
  );
  let used = 0;
  return [...fitting, ...found].filter(({ part, shown }) => {
    const { tokens } = lineOf(part, memoryOf(shown), 0, timeZone);
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

function memoryOf(shown: MemoryItem | MemoryHit): MemoryItem {
  return "memory" in shown ? shown.memory : shown;
}
