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
  /** Always shown: pinned memories, then slots and statements, most important first. */
  readonly profile: readonly MemoryItem[];
  /** Matches, best first; insights last, as in all parts. */
  readonly relevant: readonly MemoryHit[];
  /** Compressed earlier turns that match, best first. */
  readonly episodes: readonly MemoryHit[];
  /** Linked to the best matches. */
  readonly related: readonly MemoryItem[];
  /** Fallback memories within the budget: most important first, then latest. */
  readonly rest: readonly MemoryItem[];
  /** Lessons from ended conversations with the app, latest first. */
  readonly notes: readonly MemoryItem[];
  /**
   * Memories over budget, or over the `rag_length` of their category; episodes and notes only if
   * found.
   */
  readonly omitted: number;
  /**
   * Set if `omitted` is a lower bound: counting stops at some 200 free statements of a category.
   */
  readonly omittedAtLeast?: boolean;
  /** Set if the search was stopped after two seconds, so that there are no matches. */
  readonly timedOut?: boolean;
}

/** What an earlier turn of the epoch added before its user's message. */
export type EarlierAdditions = { readonly messageId: string; readonly memories: ShownMemories };

export type ShownMemories = Readonly<
  Partial<Record<ShownPart, readonly (MemoryItem | MemoryHit)[]>>
>;

/** Turns whose prompts only grow: each begins with the one before. */
interface Epoch {
  /** Whether this turn opens it; profile, `rest`, notes and summary then stay until it ends. */
  readonly isNew: boolean;
  /** The user's message that opened it; undefined if this turn does. */
  readonly openedBy?: string | undefined;
  /** `seq` of the first message shown verbatim. */
  readonly firstSeq: number;
  readonly earlier: readonly EarlierAdditions[];
  readonly readable: readonly string[];
  /** The message that the newest summary ends with, even if it is not shown yet. */
  readonly summarisedId: string | null;
}

/** Memory at the start of a turn, within the token budget. */
export interface Recalled {
  readonly epoch: Epoch;
  /** "passive": without memories, changes and consents. */
  readonly mode: RecallMode;
  readonly summary: Conversation["summary"];
  /** A newer summary in progress: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** Recorded messages after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  /** The oldest of them, omitted if there are more than some 400. */
  readonly omitted: Conversation["omitted"];
  /** The last messages that the summary covers, shown verbatim beside it: whole turns, in order. */
  readonly recent: readonly BaseMessage[];
  /** Ids of recent messages with cut texts: a single turn exceeded 2,000 tokens. */
  readonly shortened: readonly string[];
  /** The turn at the summary's end, if the gap has no user's message. */
  readonly lastTurn: readonly BaseMessage[];
  /** Ids that the graph's state lacked when the run began; only recall nodes set them. */
  readonly brought?: readonly string[];
  readonly lastSeq: number;
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** The name of the notes' app (`notes.apps`). @default its id */
  readonly appName?: string;
  /** Changes that this thread was not shown. */
  readonly changes: {
    readonly since: number;
    readonly revision: number;
    readonly count: number;
    /** The three most important, most important first. */
    readonly top: readonly RecalledChange[];
  };
  /** Unextracted messages of the user's other threads, in a thread's first turn. */
  readonly unread: readonly string[];
  /**
   * Open requests that the agent may ask about, newest first; only if the recall asked for them.
   */
  readonly consents: readonly PendingConsent[];
}

/** Milliseconds that each recall took. */
export const durations = new WeakMap<Recalled, number>();

export const noMemories: RecalledMemories = {
  profile: [],
  relevant: [],
  episodes: [],
  related: [],
  rest: [],
  notes: [],
  omitted: 0,
};

/** By priority in the budget. */
export const memoryParts: readonly ShownPart[] = [
  "profile",
  "relevant",
  "episodes",
  "notes",
  "related",
  "rest",
];

export function partOf(memories: ShownMemories, part: ShownPart): readonly MemoryItem[] {
  return (memories[part] ?? []).map((shown) => ("memory" in shown ? shown.memory : shown));
}

/** What the epoch showed before: its block by part, and each later turn's additions. */
function earlierInEpoch(found: Pick<RecallResult, "conversation" | "shown">) {
  const block: Record<"profile" | "rest" | "notes", MemoryItem[]> = {
    profile: [],
    rest: [],
    notes: [],
  };
  const added = new Map<string, Partial<Record<ShownPart, MemoryItem[]>>>();
  for (const [messageId, id, part] of found.conversation?.epoch?.lines ?? []) {
    const memory = id === null ? undefined : found.shown.get(id);
    if (!memory || part === null) continue;
    // The other parts stay with their turn.
    if (part === "profile" || part === "rest" || part === "notes") block[part].push(memory);
    else {
      const parts = added.get(messageId) ?? {};
      parts[part] = [...(parts[part] ?? []), memory];
      added.set(messageId, parts);
    }
  }
  const earlier: EarlierAdditions[] = [...added].map(([messageId, memories]) => ({
    messageId,
    memories,
  }));
  return { block, earlier };
}

/**
 * An open epoch keeps its block and adds new matches. `asked`: ids of matching profile memories,
 * best first.
 */
export function selectMemories(
  deps: SearchRuntime,
  question: EmbeddedQuestion,
  found: RecallResult,
) {
  const epoch = found.conversation?.epoch;
  if (!epoch)
    return { ...selectParts(deps, question, found), earlier: [] as readonly EarlierAdditions[] };
  const { block, earlier } = earlierInEpoch(found);
  const { profile, rest, notes } = block;
  const before = [block, ...earlier.map(({ memories }) => memories)].flatMap((shown) =>
    memoryParts.flatMap((part) => partOf(shown, part)),
  );
  // They count against a category's length, and are not repeated.
  const { memories } = selectParts(deps, question, {
    ...found,
    profile: before,
    rest: [],
    notes: [],
  });
  const { omitted } = epoch;
  return { memories: { ...memories, profile, rest, notes, omitted }, asked: [], earlier };
}

/** A category's `rag_length` goes to pinned memories, then to matches. */
function selectParts(deps: SearchRuntime, question: EmbeddedQuestion, found: RecallResult) {
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
  const profile = found.profile.filter((memory) =>
    asked.has(memory.id) ? fitting.has(memory.id) : room(memory),
  );
  const [relevant, episodes] = [lists.relevant.shown, lists.episodes.shown];
  const chosen = [...relevant, ...episodes].map(({ memory }) => memory);
  const links = relatedTo(relevant, linksOf(found.candidates), [...found.profile, ...chosen]);
  const related = links.flatMap(({ memories }) => memories).filter(room);
  const shownIds = new Set([...chosen, ...related].map(({ id }) => id));
  const rest = found.rest.filter((memory) => !shownIds.has(memory.id) && room(memory));
  const shown = {
    profile,
    relevant,
    episodes,
    related,
    rest,
    notes: found.notes.filter(room),
    omitted: 0,
  };
  const omitted = {
    omitted: omittedOf(found, shown),
    ...(found.knownCut && { omittedAtLeast: true }),
  };
  const memories: RecalledMemories = { ...shown, ...omitted };
  return { memories, asked: fits };
}

/** `knownCount` counts facts, insights and pinned episodes. */
function omittedOf({ knownCount }: RecallResult, shown: RecalledMemories): number {
  const known = memoryParts
    .flatMap((part) => partOf(shown, part))
    .filter(
      ({ kind, pinned }) => kind === "fact" || kind === "insight" || (pinned && kind === "episode"),
    );
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
  // More distant episodes are found by their words alone.
  const others = candidates
    .filter((candidate) => !isNear(candidate))
    .map((candidate) =>
      candidate.memory.kind === "episode" ? { ...candidate, similarity: null } : candidate,
    );
  return [
    ...rankMemories(others, { ...question, floor: shownFloor }),
    ...rankMemories(near, { ...question, floor: { best: 0, each: 0 } }),
  ].toSorted((first, second) => lateness(first) - lateness(second) || second.score - first.score);
}

const lateness = ({ memory }: MemoryHit) => Number(ranksLast(memory));
