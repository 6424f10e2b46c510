import { retrievalWeights as weights } from "../retrieval-options.js";
import { saturation } from "../word-weights.rule.js";
import {
  type MessageAddress,
  type MessageMatches,
  normedIn,
  type TermMatches,
} from "./message-matches.rule.js";
import { slotIn } from "./posting-lists.rule.js";

/** A message that memories were learned from. */
interface LearnedMessage extends MessageAddress {
  /** Refs of those memories, ascending. */
  readonly memories: readonly number[];
}

/** How well one fits a question with the messages around it, as a share of what one would score that has all terms. */
export interface ScoredMessage extends LearnedMessage {
  /** Of single precision, as scores are compared. */
  readonly score: number;
}

/** The memories learned from a message, their refs ascending; none where it is undefined. */
export type LearnedFrom = (thread: number, seq: number) => readonly number[] | undefined;

/** How many places further on a message stands, and beside it what words count that are lent to it. */
const nearSeqs = [0, 1, -1, 2, -2] as const;
const nearWeights = [
  1,
  weights.previousTurn,
  weights.nextTurn,
  weights.secondPreviousTurn,
  weights.secondNextTurn,
] as const;
const near = nearSeqs.length;

/** The messages that memories were learned from, of the `most` best and those around them: best first. */
export function scoredMessages(
  found: MessageMatches,
  learnedFrom: LearnedFrom,
  most: number,
): readonly ScoredMessage[] {
  const { learned, lenders } = lentWords(found, bestOf(found, most), learnedFrom);
  const scores = scoresOf(found, lenders, learned.length);
  return learned
    .map(({ thread, seq, memories }, at) => {
      return { thread, seq, memories, score: Math.fround((scores[at] as number) / found.ideal) };
    })
    .sort(
      (first, second) => second.score - first.score || first.thread - second.thread || first.seq - second.seq,
    );
}

/** The places of the `most` best messages by their own words, and of those as good as the last of them. */
function bestOf({ places, totals }: MessageMatches, most: number): readonly number[] {
  if (places.length <= most) return places;
  const floor = leastOfBest(totals.slice(), most);
  return places.filter((_, at) => (totals[at] as number) >= floor);
}

/** The least of the `most` greatest of `values`, which are put in another order (Hoare's selection). */
function leastOfBest(values: Float32Array, most: number): number {
  const wanted = values.length - most;
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const { left, right } = parted(values, low, high);
    if (wanted > right && wanted < left) break;
    if (wanted <= right) high = right;
    else low = left;
  }
  return values[wanted] as number;
}

/** Puts the lesser of `values` from `low` to `high` up to `right`, the greater from `left` on, and equals between. */
function parted(
  values: Float32Array,
  low: number,
  high: number,
): { readonly left: number; readonly right: number } {
  const pivot = values[(low + high) >>> 1] as number;
  let [left, right] = [low, high];
  while (left <= right) {
    while ((values[left] as number) < pivot) left++;
    while ((values[right] as number) > pivot) right--;
    if (left > right) break;
    const lesser = values[right] as number;
    values[right--] = values[left] as number;
    values[left++] = lesser;
  }
  return { left, right };
}

/** Places of messages that lend words, and for each, in the order of `nearSeqs`, to which of the learned; -1 for none. */
interface Lenders {
  readonly places: readonly number[];
  readonly lentTo: Int32Array;
}

/** To which messages that memories were learned from the messages at `places` lend their words. */
function lentWords(
  { messageAt }: MessageMatches,
  places: readonly number[],
  learnedFrom: LearnedFrom,
): { readonly learned: readonly LearnedMessage[]; readonly lenders: Lenders } {
  const learned: LearnedMessage[] = [];
  const known = new Map<number, Map<number, number>>();
  const lenders: number[] = [];
  const lentTo = new Int32Array(places.length * near);
  for (const place of places) {
    const { thread, seq } = messageAt(place);
    const ofThread = known.get(thread) ?? new Map<number, number>();
    known.set(thread, ofThread);
    let lends = false;
    for (let index = 0; index < near; index++) {
      const nearSeq = seq + (nearSeqs[index] as number);
      let at = ofThread.get(nearSeq);
      if (at === undefined) {
        const memories = learnedFrom(thread, nearSeq);
        at = memories && memories.length > 0 ? learned.push({ thread, seq: nearSeq, memories }) - 1 : -1;
        ofThread.set(nearSeq, at);
      }
      lentTo[lenders.length * near + index] = at;
      lends ||= at !== -1;
    }
    if (lends) lenders.push(place);
  }
  return { learned, lenders: { places: lenders, lentTo } };
}

/** By place: 1 + which of the lenders stands there. Reused, and cleared by what was touched. */
let lenderAt = new Uint32Array(0);

/** What each of the learned messages scores by its words and those lent to it, times the ideal. */
function scoresOf(
  { byTerm, size }: MessageMatches,
  { places, lentTo }: Lenders,
  learned: number,
): Float64Array {
  if (lenderAt.length < size) lenderAt = new Uint32Array(size);
  const scores = new Float64Array(learned);
  const frequencies = new Float64Array(learned);
  for (const [at, place] of places.entries()) lenderAt[place] = at + 1;
  for (const matches of byTerm) addTerm(matches, lentTo, frequencies, scores);
  for (const place of places) lenderAt[place] = 0;
  return scores;
}

/**
 * Adds to `scores` what the learned messages score by one term: own and lent words are taken together before saturation, as
 * BM25F takes the fields of a text. Leaves `frequencies` as it was, all 0.
 */
function addTerm(
  matches: TermMatches,
  lentTo: Int32Array,
  frequencies: Float64Array,
  scores: Float64Array,
): void {
  const { base, postings, term } = matches;
  const touched: number[] = [];
  for (let each = 0; each < postings.length; each++) {
    const posting = postings[each] as number;
    const lender = lenderAt[base + slotIn(posting)] as number;
    if (lender === 0) continue;
    const normed = normedIn(posting, matches);
    for (let index = 0; index < near; index++) {
      const at = lentTo[(lender - 1) * near + index] as number;
      if (at === -1) continue;
      const before = frequencies[at] as number;
      if (before === 0) touched.push(at);
      frequencies[at] = before + normed * (nearWeights[index] as number);
    }
  }
  for (const at of touched) {
    const gained = term.gain * saturation(frequencies[at] as number, weights.message.k1);
    scores[at] = (scores[at] as number) + gained;
    frequencies[at] = 0;
  }
}
