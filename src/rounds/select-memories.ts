import { categoryRoom } from "../memories/item/category.js";
import { linksOf, type MemoryCandidate } from "../search/memory-hits.js";
import { rankMemories, relatedTo } from "../search/rank-memories.js";
import type { EmbeddedQuestion } from "../search/read-question.js";
import type { SearchRuntime } from "../search/retrieval-options.js";
import { shownFloor } from "../search/retrieval-weights.js";
import type { RecallResult } from "./find-recall.js";
import type { RecalledMemories } from "./recalled.js";

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
