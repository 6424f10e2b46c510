import { dayMs } from "../clock.js";
import { givesWay, type MemoryItem } from "../memories/item/memory.js";
import {
  assumedUnrelated,
  nearness,
  raisedScale,
  type SimilarityScale,
  similarityScale,
  type UnrelatedSimilarity,
} from "../models/unrelated-similarity.rule.js";
import { defaultFloor, recencyHalfLifeDays, retrievalWeights as weights } from "./retrieval-options.js";
import { fitsTime, type NamedTime } from "./time-span.rule.js";

/** By `threshold` of similarity, else by `evidence` and `floor`: no hit where the best is below `floor.best`. */
export function aboveFloor<Hit extends { readonly similarity: number; readonly evidence?: number }>(
  hits: readonly Hit[],
  threshold: number | undefined,
  floor: { readonly best: number; readonly each: number } = defaultFloor,
): Hit[] {
  if (threshold !== undefined) return hits.filter(({ similarity }) => similarity >= threshold);
  const evidenceOf = ({ evidence, similarity }: Hit) => evidence ?? similarity;
  return hits.some((hit) => evidenceOf(hit) >= floor.best)
    ? hits.filter((hit) => evidenceOf(hit) >= floor.each)
    : [];
}

/** Lowers statements learned only from turns of better hits. No other memory says a slot's value. */
export function demoteRepeats<Hit extends { readonly memory: MemoryItem; readonly score: number }>(
  hits: readonly Hit[],
): Hit[] {
  const told = new Set<string>();
  const ordered: Hit[] = [];
  // In order of their scores already: only the first needs to be compared.
  const repeats: Hit[] = [];
  let next = 0;
  const takeAbove = (score: number) => {
    for (let repeat = repeats[next]; repeat && repeat.score > score; repeat = repeats[++next]) {
      ordered.push(repeat);
    }
  };
  for (const hit of hits) {
    const turns = turnsOf(hit.memory);
    if (turns.length > 0 && turns.every((turn) => told.has(turn))) {
      repeats.push({ ...hit, score: hit.score * (1 - weights.repeated) });
      continue;
    }
    takeAbove(hit.score);
    ordered.push(hit);
    for (const turn of turns) told.add(turn);
  }
  takeAbove(Number.NEGATIVE_INFINITY);
  return ordered;
}

function turnsOf({ kind, key, source }: MemoryItem): string[] {
  if (source === null || key !== null) return [];
  return source.seqs.map((seq) => JSON.stringify([kind, source.threadId, seq]));
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
        if (left === 0 || told.has(memory.id) || givesWay(memory) !== last) continue;
        told.add(memory.id);
        memories.push(memory);
        left--;
      }
    }
  }
  return beside;
}

/** A memory with the signals of its rank. */
export interface MemorySignals {
  readonly memory: MemoryItem;
  /** How well its text fits the question, 0 to 1: comparable between questions. */
  readonly lexical: number;
  /** The same of the best message that it was learned from, smoothed with its neighbours. */
  readonly source: number;
  /** The same of the thread it was learned in. */
  readonly thread: number;
  /** 1 − cosine distance; null without a vector. */
  readonly similarity: number | null;
  /** Strength of its strongest link to another candidate; 0 without. */
  readonly relation: number;
  /** The least similarity of all visible memories; null where they are few or not all are known. */
  readonly leastSimilarity?: number | null;
  /** Whether a message that it was learned from has a word of the question: the messages around it are no evidence alone. */
  readonly worded?: boolean;
}

/** A memory that was found. */
export interface MemoryHit {
  readonly memory: MemoryItem;
  /**
   * How alike question and memory are, 0 to 1: cosine similarity, or the share of the question's words that it has
   * (rare ones count more), or most of that share in the messages it was learned from, or 0.3 if it holds since a
   * time that the question names; the greatest of them.
   */
  readonly similarity: number;
  /** What it is ranked by; comparable within one search. */
  readonly score: number;
  /** Why it was found. */
  readonly reason: string;
  /** What it is most strongly linked to, of what is no hit itself: in a query one or two for all hits together. */
  readonly related?: readonly MemoryItem[];
}

/** Nearness from which a text is said to mean something similar. */
const similarNearness = 0.3;

export interface RankedFor {
  readonly dates: readonly NamedTime[];
  readonly names: (actor: string) => boolean;
  readonly now: Date;
  readonly threshold: number | undefined;
  readonly floor?: { readonly best: number; readonly each: number };
  readonly unrelated?: UnrelatedSimilarity | null;
}

/** What each signal adds to a score; their sum is the score before `demoteRepeats`. */
export interface ScoreParts {
  /** The question's words in the memory. */
  readonly words: number;
  /** How near its vector is. */
  readonly vector: number;
  /** The question's words in the messages it was learned from. */
  readonly sourceMessage: number;
  /** The same of all of their thread. */
  readonly thread: number;
  /** Its strongest link to another candidate. */
  readonly relation: number;
  /** It holds since a time that the question names. */
  readonly date: number;
  /** It is about somebody whom the question names. */
  readonly speaker: number;
  readonly importance: number;
  readonly recency: number;
  /** What an insight loses against what was said; 0 or less. */
  readonly insight: number;
}

export type WeighedMemory = ReturnType<typeof weighMemories>[number];

/** Without a threshold a vector is evidence only above the floor of its space (see `similarityScale`). */
export function rankMemories(candidates: readonly MemorySignals[], question: RankedFor): MemoryHit[] {
  return orderWeighed(weighMemories(candidates, question), question);
}

export function orderWeighed(
  weighed: readonly WeighedMemory[],
  { threshold, floor }: Pick<RankedFor, "threshold" | "floor">,
): MemoryHit[] {
  const above = aboveFloor(weighed, threshold, floor ?? defaultFloor);
  return demoteRepeats(
    above.toSorted(byScore).map((weighed) => {
      const { memory, similarity, score } = weighed;
      return { memory, similarity, score, reason: reasonOf(weighed) };
    }),
  );
}

export function weighMemories(candidates: readonly MemorySignals[], question: RankedFor) {
  const space = similarityScale(question.unrelated ?? assumedUnrelated);
  const scale = raisedScale(space, candidates[0]?.leastSimilarity ?? null);
  const nowMs = question.now.getTime();
  return candidates.map((candidate) => {
    const { memory, lexical, worded } = candidate;
    const source = lexical > 0 || worded ? candidate.source : 0;
    const isNamed = memory.actorId !== null && question.names(memory.actorId);
    const parts = partsOf(candidate, {
      ageDays: Math.max(0, nowMs - memory.updatedAt.getTime()) / dayMs,
      date: question.dates.some((date) => fitsTime(memory.validFrom, date)) ? weights.date : 0,
      ...{ isNamed, scale },
    });
    const cosine = candidate.similarity ?? 0;
    const shared = Math.max(
      shareOfWords(lexical, weights.memory.k1),
      weights.source * shareOfWords(source, weights.message.k1),
      parts.date,
    );
    const similarity = Math.max(cosine, shared);
    // What `aboveFloor` compares.
    const evidence = Math.max(shared, cosine >= scale.floor ? cosine : 0);
    return { memory, score: scoreOf(parts), parts, similarity, evidence, isNamed };
  });
}

function partsOf(
  { memory, lexical, source, thread, similarity, relation }: MemorySignals,
  weighed: { ageDays: number; date: number; isNamed: boolean; scale: SimilarityScale },
): ScoreParts {
  const { ageDays, date, isNamed, scale } = weighed;
  const parts = {
    words: lexical,
    vector: weights.vector * nearness(similarity, scale),
    sourceMessage: weights.source * source,
    thread: weights.thread * thread,
    relation: weights.relation * relation,
    date,
    speaker: 0,
    importance: weights.importance * ((memory.importance - 1) / 4),
    recency: weights.recency * 0.5 ** (ageDays / recencyHalfLifeDays),
    insight: 0,
  };
  if (isNamed) parts.speaker = fitOf(parts) * weights.speaker;
  if (givesWay(memory)) parts.insight = scoreOf(parts) * (weights.insight - 1);
  return parts;
}

function fitOf({ words, sourceMessage, thread, vector, relation, date }: ScoreParts): number {
  return words + sourceMessage + thread + vector + relation + date;
}

function scoreOf(parts: ScoreParts): number {
  return fitOf(parts) + parts.speaker + (parts.importance + parts.recency) + parts.insight;
}

/** Equals, which are many when only a day is asked about, in the order in which they were said. */
function byScore(first: WeighedMemory, second: WeighedMemory): number {
  return second.score - first.score || toldAt(first) - toldAt(second) || placeOf(first) - placeOf(second);
}

const toldAt = ({ memory }: WeighedMemory) => memory.validFrom.getTime();
const placeOf = ({ memory }: WeighedMemory) => memory.source?.seqs[0] ?? 0;

/** A score as BM25 gives it → 1 for a text of average length that has every word asked for once. */
function shareOfWords(score: number, k1: number): number {
  return Math.min(1, score * (1 + k1));
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
