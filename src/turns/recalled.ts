import type { BaseMessage } from "@langchain/core/messages";
import type { PendingConsent } from "../consents/consent-lines.rule.js";
import type { Conversation } from "../conversation/find-conversation.js";
import type { ShownPart } from "../conversation/shown-turns.js";
import { categoryRoom } from "../memories/item/category.rule.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import { type MemoryHit, rankMemories, relatedTo } from "../search/rank-memories.rule.js";
import { type EmbeddedQuestion, timeOf } from "../search/read-question.js";
import { type RecallMode, type SearchRuntime, shownFloor } from "../search/retrieval-options.js";
import { linksOf, type MemoryCandidate } from "../search/search-memories.js";
import type { RecalledChange, RecallResult } from "./find-recall.js";

export interface RecalledMemories {
  /** What is always shown: what is pinned, then slots and statements, most important first. */
  readonly profile: readonly MemoryItem[];
  /** What fits the question, best first; insights after the others, as in all parts. */
  readonly relevant: readonly MemoryHit[];
  /** Compressed stretches of earlier turns that fit, best first. */
  readonly episodes: readonly MemoryHit[];
  /** Linked to the best of those. */
  readonly related: readonly MemoryItem[];
  /** What else is known, within the budget: most important first, then latest. */
  readonly rest: readonly MemoryItem[];
  /** Lessons from ended conversations with the app, latest first. */
  readonly notes: readonly MemoryItem[];
  /** Memories over budget, or beyond the `rag_length` of their category; episodes and notes only where found. */
  readonly omitted: number;
  /** Set where there are more: counting stops at some two hundred free statements of a category. */
  readonly omittedAtLeast?: boolean;
  /** Set when the search for what fits the question took longer than two seconds, so that nothing of that is here. */
  readonly timedOut?: boolean;
}

/** What an earlier turn of the epoch added in front of its user's message. */
export interface EarlierAdditions {
  readonly messageId: string;
  readonly memories: ShownMemories;
}

/** Memories by the part of the block that they stand in. */
export type ShownMemories = Readonly<Partial<Record<ShownPart, readonly (MemoryItem | MemoryHit)[]>>>;

/** A stretch of turns whose prompts only grow: each begins with the one before. */
interface Epoch {
  /** Whether this turn opens it: then its profile, `rest`, notes and summary stand until it ends. */
  readonly isNew: boolean;
  /** The user's message that opened it; undefined where this turn does. */
  readonly openedBy?: string | undefined;
  /** `seq` of the first message that is shown word for word. */
  readonly firstSeq: number;
  /** By turn, in order. */
  readonly earlier: readonly EarlierAdditions[];
  /** The categories that were readable. */
  readonly readable: readonly string[];
  /** The message that the newest summary ends with, whether it is shown yet or not. */
  readonly summarisedId: string | null;
}

/** What memory knows at the start of a turn: memories, changes and consents within the token budget. */
export interface Recalled {
  readonly epoch: Epoch;
  /** "passive": memories, changes and consents were not looked for. */
  readonly mode: RecallMode;
  /** The latest completed summary; null before the first. */
  readonly summary: Conversation["summary"];
  /** A newer summary that is still being made: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** The recorded messages after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  /** The oldest of them, omitted where there are more than some 400; else null. */
  readonly omitted: Conversation["omitted"];
  /** The last messages that the summary covers, to be shown word for word beside it: whole turns, in order. */
  readonly recent: readonly BaseMessage[];
  /** Ids of recent messages with shortened texts: a single turn was longer than 2,000 tokens. */
  readonly shortened: readonly string[];
  /** The turn that the summary ends with, where the gap holds no user's message. */
  readonly lastTurn: readonly BaseMessage[];
  /** Ids of those that the graph's state did not hold at the beginning of the run. Only a recall node knows them. */
  readonly brought?: readonly string[];
  readonly lastSeq: number;
  /** Id of the last recorded message; null before the first. */
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** The name of the notes' app (`notes.apps`). @default its id */
  readonly appName?: string;
  /** Changes to the owner's memories that this thread was not shown. */
  readonly changes: {
    readonly since: number;
    /** The revision this recall saw. */
    readonly revision: number;
    readonly count: number;
    /** The three most important, most important first. */
    readonly top: readonly RecalledChange[];
  };
  /** What the user said in other threads lately, and facts are not extracted from yet; in a thread's first turn. */
  readonly unread: readonly string[];
  /** What waits for the user's consent and may be asked about, newest first; only where the recall asked for it. */
  readonly consents: readonly PendingConsent[];
}

/** Not part of the recall: it says nothing about what is known. */
const durations = new WeakMap<Recalled, number>();

export function noteDuration(recalled: Recalled, milliseconds: number): void {
  durations.set(recalled, milliseconds);
}

export function durationOf(recalled: Recalled): number | undefined {
  return durations.get(recalled);
}

export const noMemories: RecalledMemories = {
  profile: [],
  relevant: [],
  episodes: [],
  related: [],
  rest: [],
  notes: [],
  omitted: 0,
};

/** In the order in which there is room for them. */
export const memoryParts: readonly ShownPart[] = [
  ...(["profile", "relevant", "episodes", "notes", "related", "rest"] as const),
];

export function partOf(memories: ShownMemories, part: ShownPart): readonly MemoryItem[] {
  return (memories[part] ?? []).map((shown) => ("memory" in shown ? shown.memory : shown));
}

/** What an epoch shows before this turn: by part what its block has, and what each later turn added. */
function earlierInEpoch(found: Pick<RecallResult, "conversation" | "shown">) {
  const block: Record<ShownPart, MemoryItem[]> = {
    profile: [],
    relevant: [],
    episodes: [],
    related: [],
    rest: [],
    notes: [],
  };
  const added = new Map<string, Partial<Record<ShownPart, MemoryItem[]>>>();
  for (const [messageId, id, part] of found.conversation?.epoch?.lines ?? []) {
    const memory = id === null ? undefined : found.shown.get(id);
    if (!memory || part === null) continue;
    if (standing.has(part)) block[part].push(memory);
    else {
      const parts = added.get(messageId) ?? {};
      parts[part] = [...(parts[part] ?? []), memory];
      added.set(messageId, parts);
    }
  }
  const earlier: EarlierAdditions[] = [...added].map(([messageId, memories]) => ({ messageId, memories }));
  return { block, earlier };
}

/** The parts of a block: the others stand where they were found. */
const standing: ReadonlySet<ShownPart> = new Set(["profile", "rest", "notes"]);

/**
 * What the turn is shown. Of an epoch that goes on the block stands, and what fits the question and was not shown in it
 * is added. `asked`: ids of the profile that fit the question, best first.
 */
export function selectMemories(deps: SearchRuntime, question: EmbeddedQuestion, found: RecallResult) {
  const epoch = found.conversation?.epoch;
  if (!epoch) return { ...selectAnew(deps, question, found), earlier: [] as readonly EarlierAdditions[] };
  const { block, earlier } = earlierInEpoch(found);
  const { profile, rest, notes } = block;
  const before = [block, ...earlier.map(({ memories }) => memories)].flatMap((shown) =>
    memoryParts.flatMap((part) => partOf(shown, part)),
  );
  // They count against a category's length, and are said once.
  const { memories } = selectAnew(deps, question, { ...found, profile: before, rest: [], notes: [] });
  const { omitted } = epoch;
  return { memories: { ...memories, profile, rest, notes, omitted }, asked: [], earlier };
}

/** A category's `rag_length` goes to pinned memories, then to what fits. */
function selectAnew(deps: SearchRuntime, question: EmbeddedQuestion, found: RecallResult) {
  const { retrieval, policy } = deps.config;
  const hits = found.broad ? [] : fittingHits(deps, question, found.candidates);
  const always = new Set(found.profile.map(({ id }) => id));
  const pinned = new Set(found.profile.filter((memory) => memory.pinned).map(({ id }) => id));
  const left = categoryRoom(policy);
  for (const memory of found.profile) if (memory.pinned) left(memory);
  const room = (memory: MemoryItem) => pinned.has(memory.id) || left(memory);
  const lists = {
    profile: { most: Number.POSITIVE_INFINITY, shown: [] as typeof hits },
    relevant: { most: retrieval.topK, shown: [] as typeof hits },
    episodes: { most: retrieval.topEpisodes, shown: [] as typeof hits },
  };
  for (const hit of hits) {
    const { id, kind } = hit.memory;
    const list = always.has(id) ? "profile" : kind === "episode" ? "episodes" : "relevant";
    const { most, shown } = lists[list];
    if (shown.length < most && room(hit.memory)) shown.push(hit);
  }
  const asked = new Set(hits.map(({ memory }) => memory.id));
  const fits = lists.profile.shown.map(({ memory }) => memory.id);
  const fitting = new Set(fits);
  const profile = found.profile.filter((memory) => (asked.has(memory.id) ? fitting.has(memory.id) : room(memory)));
  const [relevant, episodes] = [lists.relevant.shown, lists.episodes.shown];
  const chosen = [...relevant, ...episodes].map(({ memory }) => memory);
  const links = relatedTo(relevant, linksOf(found.candidates), [...found.profile, ...chosen]);
  const related = links.flatMap(({ memories }) => memories).filter(room);
  const told = new Set([...chosen, ...related].map(({ id }) => id));
  const rest = found.rest.filter((memory) => !told.has(memory.id) && room(memory));
  const shown = { profile, relevant, episodes, related, rest, notes: found.notes.filter(room), omitted: 0 };
  const omitted = { omitted: omittedOf(found, shown), ...(found.knownCut && { omittedAtLeast: true }) };
  const memories: RecalledMemories = { ...shown, ...omitted };
  return { memories, asked: fits };
}

/** All facts and insights are known, and pinned episodes. */
function omittedOf({ knownCount }: RecallResult, shown: RecalledMemories): number {
  const known = memoryParts
    .flatMap((part) => partOf(shown, part))
    .filter(({ kind, pinned }) => kind === "fact" || kind === "insight" || (pinned && kind === "episode"));
  return Math.max(0, knownCount - known.length);
}

function fittingHits(
  runtime: SearchRuntime,
  { spans, names, vector }: EmbeddedQuestion,
  candidates: readonly MemoryCandidate[],
): MemoryHit[] {
  const { retrieval } = runtime.config;
  const question = {
    spans,
    names,
    now: timeOf(runtime),
    threshold: retrieval.threshold,
    unrelated: vector?.space.unrelated ?? null,
  };
  const isNear = ({ memory, similarity }: MemoryCandidate) =>
    vector !== null &&
    memory.kind === "episode" &&
    similarity !== null &&
    1 - similarity <= retrieval.maxEpisodeDistance;
  const near = candidates.filter(isNear);
  // An episode that is farther is found by its words alone.
  const others = candidates
    .filter((candidate) => !isNear(candidate))
    .map((candidate) => (candidate.memory.kind === "episode" ? { ...candidate, similarity: null } : candidate));
  return [
    ...rankMemories(others, { ...question, floor: shownFloor }),
    ...rankMemories(near, { ...question, floor: { best: 0, each: 0 } }),
  ].toSorted((first, second) => lateness(first) - lateness(second) || second.score - first.score);
}

const lateness = ({ memory }: MemoryHit) => (ranksLast(memory) ? 1 : 0);
