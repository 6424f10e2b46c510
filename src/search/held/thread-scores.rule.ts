import { retrievalWeights } from "../retrieval-options.js";
import { idealOf, normedFrequency, rarityOf, saturation } from "../word-weights.rule.js";
import type { HeldMessages } from "./held-messages.js";
import type { TermMatches } from "./message-matches.rule.js";
import { frequencyIn, slotIn } from "./posting-lists.rule.js";

const { k1, b } = retrievalWeights.message;

/** How often the threads of an owner say a term. */
interface TermThreads extends Pick<TermMatches, "term" | "messages"> {
  /** Places in `messages.threads`, and beside each how often. */
  readonly places: readonly number[];
  readonly said: readonly number[];
}

/**
 * How well each thread that has any of the terms fits as a whole, by its ref.
 *
 * @param threads how many there are, those that have none of the terms among them.
 */
export function threadScores(byTerm: readonly TermMatches[], threads: number): ReadonlyMap<number, number> {
  const found = byTerm.map(threadsWith);
  const withTerm = new Map<number, number>();
  for (const { term, places } of found) withTerm.set(term.n, (withTerm.get(term.n) ?? 0) + places.length);
  const gains = found.map(({ term }) => term.weight * rarityOf(threads, withTerm.get(term.n) ?? 0, 0));
  const ideal = idealOf(found.map(({ term: { term } }, at) => ({ term, gain: gains[at] as number })));
  const average = averageSize(found);
  const scores = new Map<number, number>();
  for (const [at, { messages, places, said }] of found.entries()) {
    for (const [index, place] of places.entries()) {
      const { ref, size } = messages.threads[place] as HeldMessages["threads"][number];
      const normed = normedFrequency(said[index] as number, size, average, b);
      scores.set(ref, (scores.get(ref) ?? 0) + ((gains[at] as number) * saturation(normed, k1)) / ideal);
    }
  }
  return scores;
}

/** By a thread's place: how often it says a term. Reused, and cleared by what was touched. */
let saidIn = new Float64Array(0);

function threadsWith({ term, messages, postings }: TermMatches): TermThreads {
  if (saidIn.length < messages.threads.length) saidIn = new Float64Array(messages.threads.length);
  const places: number[] = [];
  for (let at = 0; at < postings.length; at++) {
    const posting = postings[at] as number;
    const place = messages.threadAt(slotIn(posting));
    const before = saidIn[place] as number;
    if (before === 0) places.push(place);
    saidIn[place] = before + frequencyIn(posting);
  }
  const said = places.map((place) => saidIn[place] as number);
  for (const place of places) saidIn[place] = 0;
  return { term, messages, places, said };
}

/** Messages in a thread, of the threads found, at least 1. */
function averageSize(found: readonly TermThreads[]): number {
  const sizes = new Map<number, number>();
  for (const { messages, places } of found) {
    for (const place of places) {
      const { ref, size } = messages.threads[place] as HeldMessages["threads"][number];
      sizes.set(ref, size);
    }
  }
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return Math.max(1, all / Math.max(1, sizes.size));
}
