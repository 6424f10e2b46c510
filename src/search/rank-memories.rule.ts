import { dayMs } from "../clock.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import {
  nearness,
  similarityScale,
  type UnrelatedSimilarity,
} from "../models/unrelated-similarity.rule.js";
import type { ScoreSignal } from "../transcript/shown-turns.js";
import { laterFirst } from "./near-statements.rule.js";
import { nearnessInTime } from "./question-dates.rule.js";
import type { Question } from "./read-question.js";
import { floors, recencyHalfLifeDays, retrievalWeights as weights } from "./retrieval-options.js";

/** More would crowd out the hits. */
const maxRelated = 2;

/**
 * `hits` with at most `maxRelated` related memories in all: best first, none among `hits` or
 * `known`, insights last.
 */
export function withRelated<Hit extends Pick<MemoryHit, "memory">>(
  hits: readonly Hit[],
  candidates: readonly Pick<MemoryCandidate, "memory" | "linked">[],
  known: readonly MemoryItem[] = [],
): (Hit & Pick<MemoryHit, "related">)[] {
  const links = new Map(candidates.map(({ memory, linked }) => [memory.id, linked]));
  const shown = new Set([...hits.map(({ memory }) => memory), ...known].map(({ id }) => id));
  const related = new Map<Hit, MemoryItem[]>();
  let remaining = maxRelated;
  for (const last of [false, true]) {
    for (const hit of hits) {
      for (const memory of links.get(hit.memory.id) ?? []) {
        if (remaining === 0 || shown.has(memory.id) || ranksLast(memory) !== last) continue;
        shown.add(memory.id);
        related.set(hit, [...(related.get(hit) ?? []), memory]);
        remaining--;
      }
    }
  }
  return hits.map((hit) => (related.has(hit) ? { ...hit, related: related.get(hit) } : hit));
}

/** A memory that may answer a question, with the features that rank it. */
export interface MemoryCandidate {
  readonly memory: MemoryItem;
  /** BM25 fit of its own words, 0 to 1: comparable between questions. */
  readonly words: number;
  /** BM25 fit of its best source message, with the messages around it. */
  readonly source: number;
  /** Cosine similarity to the question; null without a vector. */
  readonly cosine: number | null;
  /** Whether it contains a rare identifier of the question. */
  readonly hasIdentifier: boolean;
  /** Strength of its strongest link to another candidate, or 0. */
  readonly relation: number;
  /** Strongest link first. */
  readonly linked: readonly MemoryItem[];
}

export interface MemoryHit {
  readonly memory: MemoryItem;
  /**
   * 0 to 1, the greatest of: cosine similarity, the share of the question's words (rare ones count
   * more), 1 for an identifier of the question, up to 0.3 near a day that it names.
   */
  readonly similarity: number;
  /** Determines the rank. A reranker reorders the best hits, and changes no score. */
  readonly score: number;
  readonly reason: string;
  /** Its strongest links that are not hits themselves: at most two in a query. */
  readonly related?: readonly MemoryItem[];
}

/** The part of a vector from which the reason names a similar meaning. */
const similarPart = 0.15;

export interface RankedFor extends Pick<Question, "spans" | "isNamed" | "floorFactor"> {
  readonly now: Date;
  readonly threshold: number | undefined;
  /** Null without embeddings. */
  readonly vector: { readonly space: { readonly unrelated: UnrelatedSimilarity | null } } | null;
}

export const noParts: Readonly<Record<ScoreSignal, number>> = {
  words: 0,
  vector: 0,
  /** The question's words in its source messages. */
  sourceMessage: 0,
  identifier: 0,
  relation: 0,
  /** It became true on a day that the question names, or near it. */
  date: 0,
  /** Said by somebody whom the question names. */
  speaker: 0,
  importance: 0,
  recency: 0,
  /** Penalty of an insight: 0 or less. */
  insight: 0,
  /** Only for broad questions. */
  pinned: 0,
};

/** What each feature adds to a score, which is their sum. */
export type ScoreParts = typeof noParts;

export type RankedHit = MemoryHit & { readonly parts: ScoreParts };

export type WeighedMemory = ReturnType<typeof weighMemories>[number];

/** Those of `candidates` that fit the question, best first. */
export const rankMemories = (
  candidates: readonly MemoryCandidate[],
  question: RankedFor,
): RankedHit[] => rankWeighed(weighMemories(candidates, question), question);

export const withoutParts = (hits: readonly RankedHit[]): MemoryHit[] =>
  hits.map(({ parts: _, ...hit }) => hit);

/** Best first, of equal and of nearly equal ones the later first. */
export function rankWeighed(
  weighed: readonly WeighedMemory[],
  { spans, threshold, floorFactor }: Pick<RankedFor, "spans" | "threshold" | "floorFactor">,
): RankedHit[] {
  const found =
    threshold === undefined
      ? withoutNoise(weighed, floorFactor)
      : weighed.filter(({ hit }) => hit.similarity >= threshold);
  const saidAt = ({ memory }: RankedHit) => memory.validFrom.getTime();
  const placeOf = ({ memory }: RankedHit) => memory.source?.seqs[0] ?? 0;
  const ranked = found
    .map(({ hit }) => hit)
    .sort(
      (first, second) =>
        second.score - first.score ||
        saidAt(second) - saidAt(first) ||
        placeOf(second) - placeOf(first),
    );
  return laterFirst(ranked, spans);
}

/** Beside the best hit, less than this share of its score is noise, if it is below a floor too. */
const noiseShare = 0.75;

/** None unless one of them proves that something fits. */
function withoutNoise(weighed: readonly WeighedMemory[], floorFactor: number): WeighedMemory[] {
  if (!weighed.some(({ proves }) => proves)) return [];
  const fitting = weighed.filter(({ fits }) => fits);
  const best = Math.max(0, ...fitting.map(({ hit }) => hit.score));
  return fitting.filter(
    ({ hit, floor }) => hit.score >= Math.min(noiseShare * best, floorFactor * floor.noise),
  );
}

/** How similarities of the question's vector count, in the space that it is of. */
export function vectorScale({ vector }: Pick<RankedFor, "vector">) {
  const scale = similarityScale(vector?.space.unrelated);
  return { ...scale, weight: weights.vector * scale.contrast };
}

/**
 * Scores each candidate, and says whether it fits and whether it proves that something fits.
 * `fit` is for explanations. Without a threshold, a vector counts only above the floor of its space (see `similarityScale`).
 */
export function weighMemories(candidates: readonly MemoryCandidate[], question: RankedFor) {
  const { floorFactor } = question;
  const scale = vectorScale(question);
  const minSimilar = scale.from + floorFactor * (scale.floor - scale.from);
  return candidates.map((candidate) => {
    const { memory, words, hasIdentifier } = candidate;
    const isNamed = memory.actorId !== null && question.isNamed(memory.actorId);
    const parts = partsOf(candidate, isNamed, scale, question);
    const cosine = candidate.cosine ?? 0;
    const exactFit = Math.max(parts.date, hasIdentifier ? 1 : 0);
    const vectorFit = cosine >= minSimilar ? cosine : 0;
    const wordFit = shareOfWords(
      Math.max(words, parts.sourceMessage) * (isNamed ? 1 + weights.speaker : 1),
    );
    // An episode tells of much, and its vector is like that of no question.
    const isByWords = candidate.cosine === null || memory.kind === "episode";
    const floor = isByWords ? floors.byWords : floors.besideVector;
    const isExact = exactFit >= floors.byWords.best;
    const similarity = Math.max(cosine, shareOfWords(words), exactFit);
    const hit: RankedHit = {
      memory,
      similarity,
      score: scoreOf(parts),
      reason: reasonOf(parts, isNamed),
      parts,
    };
    return {
      hit,
      fit: Math.max(wordFit, exactFit, vectorFit),
      fits: wordFit >= floorFactor * floor.each || exactFit > 0 || vectorFit > 0,
      // What only its source message says shows a memory beside others, never alone.
      proves: (words > 0 && wordFit >= floorFactor * floor.best) || isExact || vectorFit > 0,
      floor,
    };
  });
}

function partsOf(
  { memory, words, source, cosine, hasIdentifier, relation }: MemoryCandidate,
  isNamed: boolean,
  scale: ReturnType<typeof vectorScale>,
  { now, spans }: RankedFor,
): ScoreParts {
  const ageDays = Math.max(0, now.getTime() - memory.updatedAt.getTime()) / dayMs;
  const parts = {
    ...noParts,
    words,
    vector: scale.weight * nearness(cosine, scale),
    sourceMessage: weights.source * source,
    identifier: hasIdentifier ? weights.identifier : 0,
    relation: weights.relation * relation,
    date: weights.date * nearnessInTime(memory.validFrom, spans),
    importance: weights.importance * ((memory.importance - 1) / 4),
    recency: weights.recency * 0.5 ** (ageDays / recencyHalfLifeDays),
  };
  if (isNamed)
    parts.speaker =
      weights.speaker * (parts.words + parts.sourceMessage + parts.vector + parts.date);
  if (ranksLast(memory)) parts.insight = scoreOf(parts) * (weights.insight - 1);
  return parts;
}

const scoreOf = (parts: ScoreParts): number =>
  Object.values(parts).reduce((sum: number, part: number) => sum + part, 0);

/** Scales a BM25 score: 1 for a text of average length with each of the question's words once. */
export const shareOfWords = (score: number): number => Math.min(1, score * (1 + weights.k1));

function reasonOf(parts: ScoreParts, isNamed: boolean): string {
  const reasons: string[] = [];
  if (parts.words > 0) reasons.push("same words");
  if (parts.vector > similarPart) reasons.push("similar meaning");
  if (parts.sourceMessage > 0) reasons.push("said in a fitting context");
  if (parts.relation > 0) reasons.push("linked to another candidate");
  if (isNamed) reasons.push("said by who is asked about");
  if (parts.date > 0) reasons.push("of the time asked about");
  return reasons.length === 0 ? "weakly similar" : reasons.join(", ");
}
