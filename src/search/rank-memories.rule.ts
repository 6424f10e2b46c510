import { dayMs } from "../clock.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import {
  assumedUnrelated,
  nearness,
  type SimilarityScale,
  similarityScale,
  type UnrelatedSimilarity,
} from "../models/unrelated-similarity.rule.js";
import { defaultFloor, recencyHalfLifeDays, retrievalWeights as weights } from "./retrieval-options.js";
import { nearnessInTime, type TimeSpan } from "./time-span.rule.js";

/** By `threshold` of similarity, else by `evidence` and `floor`: no hit where the best is below `floor.best`. */
export function aboveFloor<Hit extends { readonly similarity: number; readonly evidence?: number }>(
  hits: readonly Hit[],
  threshold: number | undefined,
  floor: { readonly best: number; readonly each: number } = defaultFloor,
): Hit[] {
  if (threshold !== undefined) return hits.filter(({ similarity }) => similarity >= threshold);
  const evidenceOf = ({ evidence, similarity }: Hit) => evidence ?? similarity;
  return hits.some((hit) => evidenceOf(hit) >= floor.best) ? hits.filter((hit) => evidenceOf(hit) >= floor.each) : [];
}

/** What a memory is linked to, by its id, strongest first. */
export type MemoryLinks = ReadonlyMap<string, readonly MemoryItem[]>;

/** One or two say what else there is; more would crowd out what was asked for. */
const mostRelated = 2;

/** Links to show beside `hits`, best first: `mostRelated` in all, none among `hits` or `known`, insights last. */
export function relatedTo<Hit extends { readonly memory: MemoryItem }>(
  hits: readonly Hit[],
  links: MemoryLinks,
  known: readonly MemoryItem[] = [],
): { readonly hit: Hit; readonly memories: readonly MemoryItem[] }[] {
  const told = new Set([...hits.map(({ memory }) => memory), ...known].map(({ id }) => id));
  const beside = hits.map((hit) => ({ hit, memories: [] as MemoryItem[] }));
  let left = mostRelated;
  for (const last of [false, true]) {
    for (const { hit, memories } of beside) {
      if (left === 0) return beside;
      for (const memory of links.get(hit.memory.id) ?? []) {
        if (left === 0 || told.has(memory.id) || ranksLast(memory) !== last) continue;
        told.add(memory.id);
        memories.push(memory);
        left--;
      }
    }
  }
  return beside;
}

export interface MemorySignals {
  readonly memory: MemoryItem;
  /** How well its own words fit the question, 0 to 1: comparable between questions. */
  readonly words: number;
  /** The same of the best message that it was learned from, with the messages around it. */
  readonly source: number;
  /** 1 − cosine distance; null without a vector. */
  readonly similarity: number | null;
  /** Whether it has an identifier of the question that few memories have. */
  readonly hasIdentifier: boolean;
  /** Strength of its strongest link to another candidate; 0 without. */
  readonly relation: number;
}

export interface MemoryHit {
  readonly memory: MemoryItem;
  /**
   * How alike question and memory are, 0 to 1: cosine similarity, or the share of the question's words that it has
   * (rare ones count more), or 0.3 if it became true on a day that the question names; the greatest of them.
   */
  readonly similarity: number;
  /** What it is ranked by; comparable within one search. */
  readonly score: number;
  readonly reason: string;
  /** What it is most strongly linked to, of what is no hit itself: in a query one or two for all hits together. */
  readonly related?: readonly MemoryItem[];
}

/** Nearness from which a text is said to mean something similar. */
const similarNearness = 0.3;

export interface RankedFor {
  readonly spans: readonly TimeSpan[];
  readonly names: (actor: string) => boolean;
  readonly now: Date;
  readonly threshold: number | undefined;
  readonly floor?: { readonly best: number; readonly each: number };
  readonly unrelated?: UnrelatedSimilarity | null;
}

/** What each signal adds to a score, which is their sum. */
export interface ScoreParts {
  readonly words: number;
  readonly vector: number;
  /** The question's words in the messages it was learned from. */
  readonly sourceMessage: number;
  readonly identifier: number;
  readonly relation: number;
  /** It became true on a day that the question names, or near it. */
  readonly date: number;
  /** It is about somebody whom the question names. */
  readonly speaker: number;
  readonly importance: number;
  readonly recency: number;
  /** What an insight loses against what was said; 0 or less. */
  readonly insight: number;
  /** In an answer to a question for everything: pinned memories go first. */
  readonly pinned: number;
}

export const noParts: ScoreParts = {
  words: 0,
  vector: 0,
  sourceMessage: 0,
  identifier: 0,
  relation: 0,
  date: 0,
  speaker: 0,
  importance: 0,
  recency: 0,
  insight: 0,
  pinned: 0,
};

export type RankedHit = MemoryHit & { readonly parts: ScoreParts };

export type WeighedMemory = ReturnType<typeof weighMemories>[number];

/** Without a threshold a vector is evidence only above the floor of its space (see `similarityScale`). */
export function rankMemories(candidates: readonly MemorySignals[], question: RankedFor): MemoryHit[] {
  return orderWeighed(weighMemories(candidates, question), question).map((weighed) => {
    const { parts: _, ...hit } = hitOf(weighed);
    return hit;
  });
}

export function hitOf(weighed: WeighedMemory): RankedHit {
  const { memory, similarity, score, parts } = weighed;
  return { memory, similarity, score, reason: reasonOf(weighed), parts };
}

/** Best first; equals, which are many where only a day is asked about, in the order in which they were said. */
export function orderWeighed(
  weighed: readonly WeighedMemory[],
  { threshold, floor }: Pick<RankedFor, "threshold" | "floor">,
): WeighedMemory[] {
  return aboveFloor(weighed, threshold, floor ?? defaultFloor).toSorted(
    (first, second) => second.score - first.score || saidAt(first) - saidAt(second) || placeOf(first) - placeOf(second),
  );
}

const saidAt = ({ memory }: WeighedMemory) => memory.validFrom.getTime();
const placeOf = ({ memory }: WeighedMemory) => memory.source?.seqs[0] ?? 0;

export function weighMemories(candidates: readonly MemorySignals[], question: RankedFor) {
  const scale = similarityScale(question.unrelated ?? assumedUnrelated);
  return candidates.map((candidate) => {
    const { memory, words, hasIdentifier } = candidate;
    const isNamed = memory.actorId !== null && question.names(memory.actorId);
    const parts = partsOf(candidate, isNamed, scale, question);
    const cosine = candidate.similarity ?? 0;
    const shared = Math.max(shareOfWords(words), parts.date, hasIdentifier ? 1 : 0);
    // What `aboveFloor` compares: a memory without a word, a day or a vector of its own is no hit.
    const evidence = Math.max(shared, cosine >= scale.floor ? cosine : 0);
    return { memory, score: scoreOf(parts), parts, similarity: Math.max(cosine, shared), evidence, isNamed };
  });
}

function partsOf(
  { memory, words, source, similarity, hasIdentifier, relation }: MemorySignals,
  isNamed: boolean,
  scale: SimilarityScale,
  { now, spans }: RankedFor,
): ScoreParts {
  const ageDays = Math.max(0, now.getTime() - memory.updatedAt.getTime()) / dayMs;
  const parts = {
    ...noParts,
    words,
    vector: weights.vector * nearness(similarity, scale),
    sourceMessage: weights.source * source,
    identifier: hasIdentifier ? weights.identifier : 0,
    relation: weights.relation * relation,
    date: weights.date * nearnessInTime(memory.validFrom, spans),
    importance: weights.importance * ((memory.importance - 1) / 4),
    recency: weights.recency * 0.5 ** (ageDays / recencyHalfLifeDays),
  };
  if (isNamed) parts.speaker = weights.speaker * (parts.words + parts.sourceMessage + parts.vector + parts.date);
  if (ranksLast(memory)) parts.insight = scoreOf(parts) * (weights.insight - 1);
  return parts;
}

function scoreOf(parts: ScoreParts): number {
  return Object.values(parts).reduce((sum: number, part: number) => sum + part, 0);
}

/** A score as BM25 gives it → 1 for a text of average length that has every word asked for once. */
export function shareOfWords(score: number): number {
  return Math.min(1, score * (1 + weights.k1));
}

function reasonOf({ parts, isNamed }: WeighedMemory): string {
  const signals: string[] = [];
  if (parts.words > 0) signals.push("same words");
  if (parts.vector > similarNearness * weights.vector) signals.push("similar meaning");
  if (parts.sourceMessage > 0) signals.push("said in a fitting context");
  if (parts.relation > 0) signals.push("linked to another hit");
  if (isNamed) signals.push("about who is asked about");
  if (parts.date > 0) signals.push("of the time asked about");
  return signals.length === 0 ? "weakly similar" : signals.join(", ");
}
