import type { BlockPart } from "../conversation/shown-turns.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import { clipped, mostThatFit } from "../text/storable-text.js";
import {
  blockTokens,
  headingTokens,
  lineOf,
  lineTokens,
  type MemorySection,
  sectionOf,
  withoutTold,
} from "./memory-block.js";
import {
  memoryParts,
  noMemories,
  partOf,
  type Recalled,
  type RecalledMemories,
  shownMemory,
} from "./recalled.js";

/** For what fits the question: the profile keeps most of the budget. */
const askedShare = 1 / 3;

/**
 * `found` cut to `budgetTokens`, headings included, the summary not. A new epoch: see `cutLines`. An
 * open one keeps its block, and cuts what the turn adds: a third of the budget for matches and news;
 * for what is always shown, as much as the epoch's profile left.
 * @param asked ids of profile memories that fit the question, best first
 */
export function fitBudget(
  found: Recalled,
  budgetTokens: number,
  asked: readonly string[] = [],
): Recalled {
  const { epoch, memories, timeZone } = found;
  if (epoch.isNew) return cutLines(found, budgetTokens, asked);
  const { profile, rest, notes, omitted } = memories;
  const matches = { ...memories, profile: [], rest: [], notes: [], omitted: 0 };
  const turn = cutLines({ ...found, memories: matches }, budgetTokens * askedShare);

  let leftTokens = budgetTokens;
  for (const shown of [memories, ...epoch.earlier.map((earlier) => earlier.memories)])
    for (const memory of partOf(shown, "profile"))
      leftTokens -= lineTokens(lineOf("profile", memory, 0, timeZone));
  const added = withoutTold({ ...noMemories, ...epoch.added }, turn.changes);
  const known = cutLines(
    { ...withoutNews(turn), memories: added },
    Math.max(0, leftTokens),
  ).memories;
  return {
    ...turn,
    memories: { ...turn.memories, profile, rest, notes, omitted },
    epoch: {
      ...epoch,
      added: { profile: known.profile, notes: known.notes },
      addedOmitted: known.omitted,
    },
  };
}

function withoutNews(found: Recalled): Recalled {
  return { ...found, changes: { ...found.changes, count: 0, top: [] }, consents: [], unread: [] };
}

/** Sums in another order differ by less than this tolerance. */
const wholeTokens = (tokens: number): number => Math.ceil(tokens - 1e-6);

const isWithin = (found: Recalled, budgetTokens: number): boolean =>
  wholeTokens(blockTokens(found)) <= budgetTokens;

/**
 * Takes lines while they fit, in this order: changes, consents and unread messages, pinned memories,
 * best matches (a third of the budget), the profile, the other parts; insights last. Skips what is
 * too long, but cuts the best hit. What a change tells in full costs nothing: no list repeats it.
 */
function cutLines(found: Recalled, budgetTokens: number, asked: readonly string[] = []): Recalled {
  if (isWithin(found, budgetTokens)) return found;
  const news = fittingNews(found, budgetTokens);
  const whole = { ...news, memories: found.memories };
  if (isWithin(whole, budgetTokens)) return whole;
  const memories = withoutTold(found.memories, news.changes);
  const order = inOrder(linesOf(memories, found.timeZone), budgetTokens, asked);
  return fittingMemories(whole, order, budgetTokens);
}

/** Without memories, which all count as omitted. The newest messages are shown first. */
function fittingNews(found: Recalled, budgetTokens: number): Recalled {
  const { changes, consents, unread, memories } = found;
  const count = memoryParts.reduce((sum, part) => sum + memories[part].length, memories.omitted);
  let shown = withoutNews({ ...found, memories: { ...memories, ...noMemories, omitted: count } });
  const take = (more: Partial<Recalled>) => {
    const next = { ...shown, ...more };
    if (isWithin(next, budgetTokens)) shown = next;
  };
  for (const place of changes.top.keys())
    take({ changes: { ...changes, top: changes.top.slice(0, place + 1) } });
  for (const place of consents.keys()) take({ consents: consents.slice(0, place + 1) });
  for (const place of unread.keys()) take({ unread: unread.slice(-place - 1) });
  return shown;
}

/** A memory's line. */
interface Line {
  readonly part: BlockPart;
  /** In the part. */
  readonly place: number;
  readonly key: string;
  /** Perhaps with less text than what was found. */
  readonly memory: MemoryItem;
  readonly text: string;
}

const keyOf = (part: BlockPart, { id }: MemoryItem) => `${part} ${id}`;

function linesOf(memories: RecalledMemories, timeZone: string): Line[] {
  return memoryParts.flatMap((part) =>
    memories[part].map((shown, place) => {
      const memory = shownMemory(shown);
      const text = lineOf(part, memory, 0, timeZone);
      return { part, place, key: keyOf(part, memory), memory, text };
    }),
  );
}

/** Pinned memories first, then what fits the question best; insights last. */
function inOrder(
  lines: readonly Line[],
  budgetTokens: number,
  asked: readonly string[],
): ReadonlySet<Line> {
  const pinned = lines.filter(({ part, memory }) => part === "profile" && memory.pinned);
  const last = lines.filter(({ memory }) => ranksLast(memory));
  const others = lines.filter((line) => !pinned.includes(line) && !last.includes(line));
  const fitting = asked.flatMap(
    (id) => others.find(({ part, memory }) => part === "profile" && memory.id === id) ?? [],
  );
  const matches = others.filter(
    ({ part, place }) => part === "relevant" || (part === "episodes" && place === 0),
  );
  let leftTokens = budgetTokens * askedShare;
  const best = [...fitting, ...matches].filter(({ text }) => {
    const tokens = lineTokens(text);
    if (tokens > leftTokens) return false;
    leftTokens -= tokens;
    return true;
  });
  return new Set([...pinned, ...best, ...others, ...last]);
}

/** What a change tells in full stays: it is no line of `order`. */
function fittingMemories(
  whole: Recalled,
  order: ReadonlySet<Line>,
  budgetTokens: number,
): Recalled {
  const candidates = new Set([...order].map(({ key }) => key));
  const withLines = (lines: readonly Line[]): Recalled => {
    const kept = new Map(lines.map(({ key, memory }) => [key, memory]));
    const lists = memoryParts.map((part) => {
      const list = whole.memories[part].flatMap((shown) => {
        const key = keyOf(part, shownMemory(shown));
        const memory = kept.get(key);
        if (memory === undefined) return candidates.has(key) ? [] : [shown];
        return "memory" in shown ? { ...shown, memory } : memory;
      });
      return [part, list] as const;
    });
    const omitted = whole.memories.omitted + order.size - lines.length;
    return { ...whole, memories: { ...whole.memories, ...Object.fromEntries(lists), omitted } };
  };
  const taken: Line[] = [];
  const tokensWith = (...more: Line[]) => wholeTokens(blockTokens(withLines([...taken, ...more])));

  const sections = new Set<MemorySection>();
  const written = new Set<string>();
  let usedTokens = 0;
  const takes = (line: Line): boolean => {
    const section = sectionOf(line.part, line.memory);
    const isNew = !sections.has(section);
    let { text } = line;
    if (line.part === "notes") {
      const place = taken.filter(({ part }) => part === "notes").length;
      text = lineOf(line.part, line.memory, place, whole.timeZone);
    }
    let tokens = usedTokens;
    // Sums suffice: a new section adds its heading, a memory its line, unless it is there.
    if (taken.length === 0 || (isNew && line.part === "notes")) tokens = tokensWith(line);
    else if (!written.has(text)) tokens += lineTokens(text) + (isNew ? headingTokens(section) : 0);
    if (wholeTokens(tokens) > budgetTokens) return false;
    written.add(text);
    taken.push(line);
    sections.add(section);
    usedTokens = tokens;
    return true;
  };
  for (const line of order) {
    if (takes(line) || line.part !== "relevant" || line.place > 0) continue;
    const cut = (characters: number): Line => {
      const memory = { ...line.memory, text: clipped(line.memory.text, characters) };
      return { ...line, memory, text: lineOf(line.part, memory, 0, whole.timeZone) };
    };
    const longest = line.memory.text.length - 1;
    if (longest < shortestCut) continue;
    const fits = (characters: number) => tokensWith(cut(characters)) <= budgetTokens;
    const characters = mostThatFit(shortestCut, longest, fits);
    if (characters !== null) takes(cut(characters));
  }
  // The notice of omitted memories changes its length with the count.
  while (taken.length > 0 && tokensWith() > budgetTokens) taken.pop();
  return withLines(taken);
}

/** Shorter cuts say nothing. */
const shortestCut = 40;
