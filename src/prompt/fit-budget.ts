import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import { clipped, largestThatFits } from "../text/storable-text.js";
import type { BlockPart } from "../transcript/shown-turns.js";
import {
  blockTokens,
  headingTokens,
  lineOf,
  lineTokens,
  type MemorySection,
  sectionOf,
  toldIn,
} from "./memory-block.js";
import {
  memoryParts,
  ofPart,
  type Recalled,
  type RecalledMemories,
  type ShownMemory,
  shownIn,
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
  const shown = [...shownIn(memories), ...epoch.earlier.flatMap((earlier) => earlier.memories)];
  for (const memory of ofPart(shown, "profile"))
    leftTokens -= lineTokens(lineOf("profile", memory, 0, timeZone));
  const isTold = toldIn(turn.changes);
  const known = {
    profile: epoch.added.profile.filter((memory) => !isTold(memory)),
    notes: epoch.added.notes.filter((memory) => !isTold(memory)),
    relevant: [],
    episodes: [],
    related: [],
    rest: [],
    omitted: 0,
  };
  const { memories: added } = cutLines(
    { ...turn, ...noNews(turn), memories: known },
    Math.max(0, leftTokens),
  );
  // What had no room when the epoch began was said then.
  const fitting = new Set([...added.profile, ...added.notes]);
  const leftOut = [...known.profile, ...known.notes].filter(
    (memory) => !fitting.has(memory) && memory.updatedAt.getTime() > (epoch.openedAt ?? 0),
  );
  return {
    ...turn,
    memories: { ...turn.memories, profile, rest, notes, omitted },
    epoch: { ...epoch, added: { ...added, omitted: leftOut.length } },
  };
}

/**
 * Takes lines while they fit, in this order: changes, consents and unread messages, pinned memories,
 * best matches (a third of the budget), the profile, the other parts; insights last. Skips what is
 * too long, but cuts the best hit. What a change tells in full costs nothing: no list repeats it.
 */
function cutLines(found: Recalled, budgetTokens: number, asked: readonly string[] = []): Recalled {
  if (blockTokens(found) <= budgetTokens) return found;
  const whole = { ...found, ...fittingNews(found, budgetTokens) };
  if (blockTokens(whole) <= budgetTokens) return whole;
  return { ...whole, memories: fittingMemories(whole, budgetTokens, asked) };
}

type News = Pick<Recalled, "changes" | "consents" | "unread">;

const noNews = ({ changes }: Recalled): News => ({
  changes: { ...changes, count: 0, top: [] },
  consents: [],
  unread: [],
});

/** Without a memory, all of which count as omitted. The newest messages are shown first. */
function fittingNews(found: Recalled, budgetTokens: number): News {
  const { changes, consents, unread } = found;
  const omitted = shownIn(found.memories).length + found.memories.omitted;
  let shown = noNews(found);
  const take = (more: Partial<News>) => {
    const next = { ...shown, ...more };
    if (blockTokens({ ...found, ...next }, [], omitted) <= budgetTokens) shown = next;
  };
  for (const place of changes.top.keys())
    take({ changes: { ...changes, top: changes.top.slice(0, place + 1) } });
  for (const place of consents.keys()) take({ consents: consents.slice(0, place + 1) });
  for (const place of unread.keys()) take({ unread: unread.slice(-place - 1) });
  return shown;
}

/** The line of a memory. */
interface Line extends ShownMemory {
  readonly found: MemoryItem | MemoryHit;
  readonly text: string;
}

function lineFor(part: BlockPart, found: MemoryItem | MemoryHit, timeZone: string): Line {
  const memory = "memory" in found ? found.memory : found;
  return { part, found, memory, text: lineOf(part, memory, 0, timeZone) };
}

/** Pinned memories first, then what fits the question best; insights last. */
function inOrder(lines: readonly Line[], budgetTokens: number, asked: readonly string[]): Line[] {
  const pinned = lines.filter(({ part, memory }) => part === "profile" && memory.pinned);
  const others = lines.filter((line) => !pinned.includes(line) && !ranksLast(line.memory));
  const fitting = asked.flatMap(
    (id) => others.find(({ part, memory }) => part === "profile" && memory.id === id) ?? [],
  );
  const episode = lines.find(({ part }) => part === "episodes");
  const matches = others.filter((line) => line.part === "relevant" || line === episode);
  let leftTokens = budgetTokens * askedShare;
  const best = [...fitting, ...matches].filter(({ text }) => {
    const tokens = lineTokens(text);
    if (tokens > leftTokens) return false;
    leftTokens -= tokens;
    return true;
  });
  return [...new Set([...pinned, ...best, ...others, ...lines])];
}

/** What a change tells in full stays: no line repeats it. */
function fittingMemories(
  whole: Recalled,
  budgetTokens: number,
  asked: readonly string[],
): RecalledMemories {
  const { memories, timeZone } = whole;
  const lines = memoryParts.flatMap((part) =>
    memories[part].map((found) => lineFor(part, found, timeZone)),
  );
  const isTold = toldIn(whole.changes);
  const untold = lines.filter(({ memory }) => !isTold(memory));
  const order = inOrder(untold, budgetTokens, asked);

  /** What was found or, of the best hit, perhaps less text. */
  const taken = new Map<Line, Line>();
  const omitted = () => memories.omitted + order.length - taken.size;
  const takenTokens = () => {
    const shown = lines.flatMap((line) => taken.get(line) ?? []);
    return blockTokens(whole, shown, omitted());
  };
  const tokensWith = (line: Line, shown: Line): number => {
    taken.set(line, shown);
    const tokens = takenTokens();
    taken.delete(line);
    return tokens;
  };

  const sections = new Set<MemorySection>();
  const written = new Set<string>();
  let usedTokens = 0;
  const takes = (line: Line, shown: Line): boolean => {
    const section = sectionOf(line.part, line.memory);
    const isNew = !sections.has(section);
    let { text } = shown;
    if (line.part === "notes") {
      const place = ofPart([...taken.keys()], "notes").length;
      text = lineOf(line.part, line.memory, place, timeZone);
    }
    let tokens = usedTokens;
    // Sums suffice: a new section adds its heading, a memory its line, unless it is there.
    if (taken.size === 0 || (isNew && line.part === "notes")) tokens = tokensWith(line, shown);
    else if (!written.has(text)) tokens += lineTokens(text) + (isNew ? headingTokens(section) : 0);
    if (Math.ceil(tokens) > budgetTokens) return false;
    written.add(text);
    taken.set(line, shown);
    sections.add(section);
    usedTokens = tokens;
    return true;
  };
  let cutTo: RecalledMemories["cut"];
  const best = untold.find(({ part }) => part === "relevant");
  for (const line of order) {
    if (takes(line, line) || line !== best) continue;
    const cut = cutThatFits(line, timeZone, (shown) => tokensWith(line, shown) <= budgetTokens);
    if (cut && takes(line, cut.line)) cutTo = [line.memory.id, cut.characters];
  }
  // The notice of omitted memories changes its length with the count.
  for (const line of [...taken.keys()].reverse()) {
    if (takenTokens() <= budgetTokens) break;
    taken.delete(line);
  }

  const kept = lines.flatMap((line) => taken.get(line) ?? (isTold(line.memory) ? line : []));
  const lists = memoryParts.map((part) => {
    const ofThis = kept.filter((line) => line.part === part);
    return [part, ofThis.map(({ found }) => found)] as const;
  });
  const cut = cutTo && { cut: cutTo };
  return { ...memories, ...Object.fromEntries(lists), omitted: omitted(), ...cut };
}

/** The longest beginning of a line's text that `fits`; null for one that says nothing. */
function cutThatFits(line: Line, timeZone: string, fits: (shown: Line) => boolean) {
  const cut = (characters: number): Line => {
    const memory = { ...line.memory, text: clipped(line.memory.text, characters) };
    return lineFor(line.part, { ...line.found, memory } as MemoryHit, timeZone);
  };
  const longest = line.memory.text.length - 1;
  if (longest < minCutCharacters) return null;
  const characters = largestThatFits(minCutCharacters, longest, (some) => fits(cut(some)));
  return characters === null ? null : { line: cut(characters), characters };
}

/** Shorter cuts say nothing. */
const minCutCharacters = 40;
