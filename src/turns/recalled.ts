import type { BaseMessage } from "@langchain/core/messages";
import type { Conversation } from "../conversation/find-conversation.js";
import type { BlockPart } from "../conversation/shown-turns.js";
import { categoryRoom } from "../memories/item/category.rule.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import { leastSimilarity } from "../models/unrelated-similarity.rule.js";
import { type MemoryHit, rankMemories, relatedTo } from "../search/rank-memories.rule.js";
import type { EmbeddedQuestion } from "../search/read-question.js";
import { rerank } from "../search/rerank.js";
import type { RecallMode, RetrievalOptions, SearchRuntime } from "../search/retrieval-options.js";
import { linksOf, type MemoryCandidate } from "../search/search-memories.js";
import { onOneLine } from "../text/storable-text.js";
import type {
  RecalledChange,
  RecalledConsent,
  RecallResult,
  UnreadMessage,
} from "./find-recall.js";
import { lineOf } from "./memory-lines.js";

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

/** What a turn adds to the prompt, before its user's message. */
export interface Additions {
  readonly memories: ShownMemories;
  readonly changes: RecalledChanges;
  readonly consents: readonly RecalledConsent[];
  readonly unread: readonly UnreadMessage[];
  /** Memories that are always shown, became known since, and are over budget. */
  readonly omitted: number;
  /** The day that the turn names, as "2026-11-28"; null if the prompt names it already. */
  readonly day: string | null;
}

interface EarlierAdditions extends Additions {
  readonly messageId: string;
}

export type ShownMemories = Readonly<
  Partial<Record<BlockPart, readonly (MemoryItem | MemoryHit)[]>>
>;

/** Changes that a thread was not told of. */
export interface RecalledChanges {
  /** The revision that it was told last. */
  readonly since: number;
  readonly revision: number;
  readonly count: number;
  /** The three most important, most important first. */
  readonly top: readonly RecalledChange[];
}

/** Turns whose prompts only grow: each begins with the one before. */
interface Epoch {
  /** Whether this turn opens it; profile, `rest`, notes and summary then stay until it ends. */
  readonly isNew: boolean;
  /** The user's message that opened it; undefined if this turn does. */
  readonly openedBy?: string | undefined;
  /** `seq` of the first message shown verbatim. */
  readonly firstSeq: number;
  readonly earlier: readonly EarlierAdditions[];
  /** What is always shown and became known since the epoch began, as far as no turn showed it. */
  readonly added: ShownMemories;
  /** How many of these are over budget. */
  readonly addedOmitted: number;
  /** Ids of memories that earlier turns were told in full by a change. */
  readonly toldIds: readonly string[];
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
  /** Messages of `state` that were edited since they were recorded. */
  readonly edited?: readonly BaseMessage[];
  /** What users and assistants say in `state`, by message id. */
  readonly words?: ReadonlyMap<string, string>;
  readonly lastSeq: number;
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** The name of the notes' app (`notes.apps`). @default its id */
  readonly appName?: string;
  readonly changes: RecalledChanges;
  /** Unextracted messages of the user's other threads, oldest first, in a thread's first turn. */
  readonly unread: readonly UnreadMessage[];
  /** Open requests that the agent may ask about, newest first, unless the epoch shows them. */
  readonly consents: readonly RecalledConsent[];
  /** Today in the user's time zone, as "2026-11-28". */
  readonly day: string;
  /** The user's, as "Europe/Lisbon". */
  readonly timeZone: string;
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
export const memoryParts: readonly BlockPart[] = [
  "profile",
  "relevant",
  "episodes",
  "notes",
  "related",
  "rest",
];

export function partOf(memories: ShownMemories, part: BlockPart): readonly MemoryItem[] {
  return (memories[part] ?? []).map((shown) => ("memory" in shown ? shown.memory : shown));
}

/** `shown` without what a change tells in full: the prompt has it once. */
export function withoutTold<Shown extends ShownMemories>(
  shown: Shown,
  { top }: Pick<RecalledChanges, "top">,
): Shown {
  if (top.length === 0) return shown;
  const lines = new Map(top.map(({ memoryId, line }) => [memoryId, line]));
  const isTold = ({ id, text }: MemoryItem) => !!lines.get(id)?.includes(onOneLine(text));
  const untold = memoryParts.flatMap((part) => {
    const all = shown[part];
    const kept = all?.filter((each) => !isTold("memory" in each ? each.memory : each));
    return all && kept && kept.length < all.length ? [[part, kept] as const] : [];
  });
  return { ...shown, ...Object.fromEntries(untold) };
}

/** Of the parts that the opening turn shows in the block, later turns add what is new. */
const standingParts = ["profile", "rest", "notes"] as const;

type Parts = Partial<Record<BlockPart, readonly MemoryItem[]>>;

/** What the epoch showed before: its block, and what each turn added to it. */
function earlierInEpoch({
  conversation,
  shown,
  told,
}: Pick<RecallResult, "conversation" | "shown" | "told">) {
  const lines = (conversation?.epoch?.lines ?? []).flatMap(([messageId, id, part]) => {
    const memory = id === null ? undefined : shown.get(id);
    return memory && part !== null ? [{ messageId, memory, part }] : [];
  });
  const openedBy = conversation?.epoch?.lines[0]?.[0];
  const isBlocks = ({ messageId, part }: (typeof lines)[number]) =>
    messageId === openedBy && standingParts.some((each) => each === part);
  const partsOf = (some: typeof lines): Parts =>
    Object.fromEntries(
      memoryParts.map((name) => [
        name,
        some.flatMap(({ part, memory }) => (part === name ? memory : [])),
      ]),
    );
  const added = lines.filter((line) => !isBlocks(line) && line.part !== "told");
  const adding = new Set([...added, ...told].map(({ messageId }) => messageId));
  // In the order of the conversation, whatever they added.
  const turns = new Set(
    (conversation?.epoch?.lines ?? []).flatMap(([id]) => (adding.has(id) ? [id] : [])),
  );
  const earlier = [...turns].map((messageId): EarlierAdditions => {
    const its = told.find((turn) => turn.messageId === messageId);
    const { since = 0, count = 0, omitted = 0, day = null } = its?.news ?? {};
    const { changes: top = [], consents = [], unread = [] } = its ?? {};
    const changes = { since, revision: since, count, top };
    const memories = partsOf(added.filter((line) => line.messageId === messageId));
    return { messageId, memories, changes, consents, unread, omitted, day };
  });
  return {
    block: partsOf(lines.filter(isBlocks)),
    earlier,
    toldIds: lines.flatMap(({ part, memory }) => (part === "told" ? memory.id : [])),
  };
}

/** Whether something that the epoch told has been deleted since: a prompt could not repeat it. */
export function isNewsGone({ told }: Pick<RecallResult, "told">): boolean {
  return told.some(
    ({ news, changes, consents, unread }) =>
      changes.length < (news.changes?.length ?? 0) ||
      consents.length < (news.consents?.length ?? 0) ||
      unread.length < (news.unread?.length ?? 0),
  );
}

const allOf = (shown: ShownMemories): readonly MemoryItem[] =>
  memoryParts.flatMap((part) => partOf(shown, part));

/**
 * An open epoch keeps its block and adds new matches, and what is always shown and became known
 * since. `asked`: ids of matching profile memories, best first.
 */
export async function selectMemories(
  deps: SearchRuntime,
  question: EmbeddedQuestion,
  found: RecallResult,
) {
  const epoch = found.conversation?.epoch;
  if (!epoch) {
    const earlier: readonly EarlierAdditions[] = [];
    return { ...(await selectParts(deps, question, found)), earlier, added: {}, toldIds: [] };
  }
  const { block, earlier, toldIds } = earlierInEpoch(found);
  const { profile = [], rest = [], notes = [] } = block;
  const before = [block, ...earlier.map(({ memories }) => memories)].flatMap(allOf);
  const shownIds = new Set([...before.map(({ id }) => id), ...toldIds]);
  const isNew = ({ id }: MemoryItem) => !shownIds.has(id);
  const added = { profile: found.profile.filter(isNew), notes: found.notes.filter(isNew) };
  // They count against a category's length, and are not repeated.
  const told = toldIds.flatMap((id) => found.shown.get(id) ?? []);
  const { memories } = await selectParts(deps, question, {
    ...found,
    profile: [...before, ...told, ...added.profile],
    rest: [],
    notes: [],
  });
  const { omitted } = epoch;
  return {
    memories: { ...memories, profile, rest, notes, omitted },
    asked: [],
    earlier,
    added,
    toldIds,
  };
}

/** A category's `rag_length` goes to pinned memories, then to matches. */
async function selectParts(deps: SearchRuntime, question: EmbeddedQuestion, found: RecallResult) {
  const { retrieval, policy } = deps.config;
  const always = new Set(found.profile.map(({ id }) => id));
  const fit = found.broad ? [] : fittingHits(deps, question, found.candidates);
  const hits = (await rerank(deps, question, fit, always)).toSorted(
    (first, second) => Number(ranksLast(first.memory)) - Number(ranksLast(second.memory)),
  );
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
  const others = found.rest.filter((memory) => !shownIds.has(memory.id) && room(memory));
  // A broad question asks for all there is.
  const rest = found.broad ? others : headWithin(others, retrieval);
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

/** The first of `memories`, up to `fallbackTokens`, without those that are too long. */
function headWithin(
  memories: readonly MemoryItem[],
  { fallbackTokens, timeZone }: RetrievalOptions,
): MemoryItem[] {
  let left = fallbackTokens;
  return memories.filter((memory) => {
    const { tokens } = lineOf("rest", memory, 0, timeZone);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
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
  asked: EmbeddedQuestion,
  candidates: readonly MemoryCandidate[],
): MemoryHit[] {
  const { retrieval } = runtime.config;
  const { maxEpisodeDistance } = retrieval;
  const leastEpisode =
    maxEpisodeDistance === undefined
      ? leastSimilarity(asked.vector?.space ?? null, "episode")
      : 1 - maxEpisodeDistance;
  const question = { ...asked, now: runtime.clock(), threshold: retrieval.threshold };
  const isNear = ({ memory, similarity }: MemoryCandidate) =>
    asked.vector !== null &&
    memory.kind === "episode" &&
    similarity !== null &&
    similarity >= leastEpisode;
  const near = candidates.filter(isNear);
  // More distant episodes are found by their words alone.
  const others = candidates
    .filter((candidate) => !isNear(candidate))
    .map((candidate) =>
      candidate.memory.kind === "episode" ? { ...candidate, similarity: null } : candidate,
    );
  const found = rankMemories(others, question);
  const episodes = [
    ...found.filter(({ memory }) => memory.kind === "episode"),
    ...rankMemories(near, { ...question, threshold: retrieval.threshold ?? 0 }),
  ].toSorted((first, second) => second.score - first.score);
  return [...found.filter(({ memory }) => memory.kind !== "episode"), ...episodes];
}
