import type { AskedTerm } from "../word-weights.rule.js";
import { type LearnedFrom, type ScoredMessage, scoredMessages } from "./learned-messages.rule.js";
import { type MessageMatches, matchMessages, type OwnerMessages } from "./message-matches.rule.js";
import { threadScores } from "./thread-scores.rule.js";

/** What is asked of messages. */
export interface AskedMessages {
  readonly terms: readonly AskedTerm[];
  readonly owners: readonly OwnerMessages[];
  /** How many threads the owners have; of the app alone, where the scope names one. */
  readonly threads: number;
}

/** Which memories messages speak for. */
export interface SourceSelection {
  /** Only messages of this app; "" for those of all. */
  readonly appId: string;
  /** Most rows of `sources`, and of messages that lend words to those around them: `matches` of `searchSizes`. */
  readonly matches: number;
  /** Most of `restSources`: `candidates` of `searchSizes`. */
  readonly candidates: number;
  readonly learnedFrom: LearnedFrom;
  /** Whether any memory was learned in a thread. */
  readonly isLearnedThread: (thread: number) => boolean;
  readonly isVisible: (memoryRef: number) => boolean;
}

/** What messages say of the memories that were learned from them. */
export interface MessageSignals {
  /** How well the best messages fit that visible memories were learned from, by the memory's ref. */
  readonly sources: ReadonlyMap<number, number>;
  /** How well each thread fits that has any of the terms, by its ref. */
  readonly threads: ReadonlyMap<number, number>;
  /** How many messages have any of the terms, counted up to `matches`; 0 where nothing was learned in their threads. */
  readonly matched: number;
  /**
   * The best of all visible memories by the own words of messages that they were learned from, best first: for where the
   * best messages speak for memories that are not visible.
   */
  readonly restSources: () => ReadonlyMap<number, number>;
}

const nothing: ReadonlyMap<number, number> = new Map();

/**
 * What the CTEs of `messageScores`, `bestSources` and `rest` find, from held messages: at most 1e-6 beside theirs, and in
 * the same order, since both compare scores in single precision.
 */
export function messageSignals(asked: AskedMessages, selection: SourceSelection): MessageSignals {
  const { appId, matches, learnedFrom, isLearnedThread } = selection;
  const found = matchMessages(asked.terms, asked.owners, appId);
  const threads = threadScores(found.byTerm, asked.threads);
  const isLearned = [...threads.keys()].some(isLearnedThread);
  if (!isLearned) return { sources: nothing, threads, matched: 0, restSources: () => nothing };
  return {
    sources: bestSources(scoredMessages(found, learnedFrom, matches), selection),
    threads,
    matched: Math.min(found.places.length, matches),
    restSources: () => restSources(found, selection),
  };
}

/** Each visible memory with the score of its best message: from the best down, until there are enough of both together. */
function bestSources(
  messages: readonly ScoredMessage[],
  { matches, isVisible }: SourceSelection,
): ReadonlyMap<number, number> {
  const sources = new Map<number, number>();
  let left = matches;
  for (const { memories, score } of messages) {
    for (const ref of memories.filter(isVisible)) {
      if (left-- === 0) return sources;
      if (!sources.has(ref)) sources.set(ref, score);
    }
  }
  return sources;
}

function restSources(
  { places, totals, ideal, messageAt }: MessageMatches,
  { candidates, learnedFrom, isVisible }: SourceSelection,
): ReadonlyMap<number, number> {
  const best = new Map<number, number>();
  for (const [at, place] of places.entries()) {
    const { thread, seq } = messageAt(place);
    const score = (totals[at] as number) / ideal;
    for (const ref of learnedFrom(thread, seq) ?? []) best.set(ref, Math.max(score, best.get(ref) ?? 0));
  }
  const visible = [...best].filter(([ref]) => isVisible(ref));
  visible.sort(([first, one], [second, other]) => other - one || first - second);
  return new Map(visible.slice(0, candidates));
}
