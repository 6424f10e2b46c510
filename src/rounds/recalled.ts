import type { BaseMessage } from "@langchain/core/messages";
import type { PendingConsent } from "../consents/consent-lines.rule.js";
import type { Conversation } from "../conversation/find-conversation.js";
import { categoryRoom } from "../memories/item/category.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { linksOf, type MemoryCandidate } from "../search/memory-hits.js";
import { type MemoryHit, rankMemories, relatedTo } from "../search/rank-memories.rule.js";
import type { EmbeddedQuestion } from "../search/read-question.js";
import { type RecallMode, type SearchRuntime, shownFloor } from "../search/retrieval-options.js";
import type { RecalledChange, RecallResult } from "./find-recall.js";

/** Durable memories for a round. */
export interface RecalledMemories {
  /** Slots and statements that are always shown, most important first. */
  readonly profile: readonly MemoryItem[];
  /** What fits the question, best first. */
  readonly relevant: readonly MemoryHit[];
  /** Compressed stretches of earlier turns that fit, best first. */
  readonly episodes: readonly MemoryHit[];
  /** Linked to the best of those. */
  readonly related: readonly MemoryItem[];
  /** Lessons from ended conversations with the app, latest first. */
  readonly notes: readonly MemoryItem[];
  /** Set when the search for what fits the question took too long (`retrieval.timeoutMs`), so that nothing of that is here. */
  readonly timedOut?: boolean;
}

/** What memory knows at the start of a round: its memories, changes and consents as far as the token budget goes. */
export interface Recalled {
  /** "passive": memories, changes and consents were not looked for. */
  readonly mode: RecallMode;
  /** The latest completed summary; null before the first. */
  readonly summary: Conversation["summary"];
  /** A newer summary that is still being made: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** The recorded messages after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  /** The oldest of them that are left out, since they are more than `conversation.maxGapMessages` or so; else null. */
  readonly leftOut: Conversation["leftOut"];
  /** The last messages that the summary covers, to be shown word for word beside it: whole rounds, in order. */
  readonly recent: readonly BaseMessage[];
  /** Ids of those of them whose text is not whole: they alone exceed `summaries.keepRecentTokens`. */
  readonly shortened: readonly string[];
  /** The round that the summary ends with, where the gap holds no user's message. */
  readonly lastRound: readonly BaseMessage[];
  /** Ids of those that the graph's state did not hold at the beginning of the run. Only a recall node knows them. */
  readonly brought?: readonly string[];
  readonly lastSeq: number;
  /** Id of the last recorded message; null before the first. */
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** Changes to the owner's memories that this thread was not told of. */
  readonly changes: {
    readonly since: number;
    /** The revision this recall saw. */
    readonly revision: number;
    readonly count: number;
    /** The three most important, most important first. */
    readonly top: readonly RecalledChange[];
  };
  /** What waits for the user's consent and may be asked about, newest first. */
  readonly consents: readonly PendingConsent[];
}

/**
 * Of what a recall found, what is shown unasked: best first, as many as configured, no more of a category than its
 * `rag_length` says, of which what fits the question goes first.
 */
export function selectMemories(
  { config: { retrieval, policy }, clock }: SearchRuntime,
  { dates, names, vector }: EmbeddedQuestion,
  found: RecallResult,
): RecalledMemories {
  const hits = rankMemories(
    found.candidates.filter(nearEnough(retrieval.maxEpisodeDistance, vector !== null)),
    {
      ...{ dates, names, now: clock?.() ?? new Date() },
      ...{ threshold: retrieval.threshold, floor: shownFloor, unrelated: vector?.space.unrelated ?? null },
    },
  );
  const slots = new Set(found.profile.map(({ id }) => id));
  const room = categoryRoom(policy);
  const lists = {
    profile: { most: Number.POSITIVE_INFINITY, shown: [] as typeof hits },
    relevant: { most: retrieval.topK, shown: [] as typeof hits },
    episodes: { most: retrieval.topEpisodes, shown: [] as typeof hits },
  };
  for (const hit of hits) {
    const list = slots.has(hit.memory.id)
      ? "profile"
      : hit.memory.kind === "episode"
        ? "episodes"
        : "relevant";
    const { most, shown } = lists[list];
    if (shown.length < most && room(hit.memory)) shown.push(hit);
  }
  const asked = new Set(hits.map(({ memory }) => memory.id));
  const fitting = new Set(lists.profile.shown.map(({ memory }) => memory.id));
  const profile = found.profile.filter((slot) => (asked.has(slot.id) ? fitting.has(slot.id) : room(slot)));
  const [relevant, episodes] = [lists.relevant.shown, lists.episodes.shown];
  const known = [...found.profile, ...[...relevant, ...episodes].map(({ memory }) => memory)];
  const related = relatedTo(relevant, linksOf(found.candidates), known).flatMap(({ memories }) => memories);
  return { profile, relevant, episodes, related: related.filter(room), notes: found.notes.filter(room) };
}

/**
 * Whether an episode is within `distance` of the question: by the vectors alone, whatever words they share. One that has
 * no vector yet is found by its words, as all are where the question has none.
 */
function nearEnough(distance: number, asked: boolean): (candidate: MemoryCandidate) => boolean {
  return ({ memory, similarity }) =>
    memory.kind !== "episode" || !asked || similarity === null || 1 - similarity <= distance;
}
