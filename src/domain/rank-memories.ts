import type { MemoryItem } from "./memory.js";
import { fitsDate, type NamedDate } from "./question-dates.js";
import { recencyHalfLifeDays, retrievalWeights as weights } from "./retrieval-weights.js";

/** A memory with the signals of its rank: see `MemoryCandidate`. */
export interface MemorySignals {
  readonly memory: MemoryItem;
  readonly lexical: number;
  readonly source: number;
  readonly thread: number;
  readonly similarity: number | null;
  readonly relation: number;
}

/** A memory that was found. */
export interface MemoryHit {
  readonly memory: MemoryItem;
  /** How alike question and memory are, 0 to 1: the greater of cosine similarity and share of the question's words. */
  readonly similarity: number;
  /** What it is ranked by; comparable within one search. */
  readonly score: number;
  /** Why it was found. */
  readonly reason: string;
}

const dayMs = 86_400_000;

/**
 * Hits in their final order: a weighted sum of normalised signals, without those less alike than `threshold`.
 *
 * What only its context speaks for (nothing of its own text, a message around it) needs half a best match.
 */
export function rankMemories(
  candidates: readonly MemorySignals[],
  question: {
    readonly dates: readonly NamedDate[];
    readonly names: (actor: string) => boolean;
    readonly now: Date;
    readonly threshold: number;
  },
): MemoryHit[] {
  const bestSimilarity = Math.max(1e-9, ...candidates.map(({ similarity }) => similarity ?? 0));
  const hits = candidates.map((candidate): MemoryHit => {
    const { memory } = candidate;
    const named = memory.actorId !== null && question.names(memory.actorId);
    const ageDays = Math.max(0, question.now.getTime() - memory.updatedAt.getTime()) / dayMs;
    const found =
      candidate.lexical +
      weights.source * candidate.source +
      weights.thread * candidate.thread +
      weights.vector * (Math.max(0, candidate.similarity ?? 0) / bestSimilarity) +
      weights.relation * candidate.relation;
    const boosts =
      (question.dates.some((date) => fitsDate(memory.validFrom, date)) ? weights.date : 0) +
      weights.importance * ((memory.importance - 1) / 4) +
      weights.recency * 0.5 ** (ageDays / recencyHalfLifeDays);
    const similarity = Math.max(candidate.similarity ?? 0, alikeWords(candidate.lexical));
    return {
      memory,
      similarity,
      score: found * (named ? 1 + weights.speaker : 1) + boosts,
      reason: reasonOf(candidate, named),
    };
  });
  const alike = (hit: MemoryHit, { source }: MemorySignals) => hit.similarity >= question.threshold || source >= 0.5;
  return hits
    .filter((hit, index) => alike(hit, candidates[index] as MemorySignals))
    .toSorted((first, second) => second.score - first.score);
}

/** 1 for a text of average length that has every word asked for once. */
function alikeWords(lexical: number): number {
  return Math.min(1, lexical * (1 + weights.memory.k1));
}

function reasonOf({ lexical, similarity, source, relation }: MemorySignals, named: boolean): string {
  const signals = [
    lexical > 0 && "same words",
    (similarity ?? 0) > 0.5 && "similar meaning",
    source > 0 && "said in a fitting context",
    relation > 0 && "linked to another hit",
    named && "about who is asked about",
  ];
  return signals.filter(Boolean).join(", ") || "weakly similar";
}
