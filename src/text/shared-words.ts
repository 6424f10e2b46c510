import { plainText } from "./search-text.js";

const maxComparedCharacters = 10_000;
const printableAscii = /^[\x20-\x7e]*$/;
/** "The user" begins most memories; shorter words ("is", "a", "to") occur in any sentence. */
const isFrame = /^(?:the|user|\p{Script=Latin}{1,2})$/u;

/** How often a text has each of its words. */
export type WordCounts = ReadonlyMap<string, number>;

/** Once each, the words that say what `text` is about; pairs in scripts without spaces. */
export function contentWords(text: string): WordCounts {
  const head = text.slice(0, maxComparedCharacters);
  // Preparing a text takes longer than all else here.
  const plain = printableAscii.test(head) ? head.toLowerCase() : plainText(head);
  const words = plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return new Map(words.filter((word) => !isFrame.test(word)).map((word) => [word, 1]));
}

export const sharedWords = (first: string, second: string): number =>
  shareOfCounts(contentWords(first), contentWords(second));

/** The share of common words, 0 to 1 (Dice's coefficient). */
export function shareOfCounts(one: WordCounts, other: WordCounts): number {
  let [shared, total] = [0, 0];
  for (const [word, count] of one) {
    shared += Math.min(count, other.get(word) ?? 0);
    total += count;
  }
  for (const count of other.values()) total += count;
  return total === 0 ? 0 : (2 * shared) / total;
}

/** The share of the words of `text` that `source` has, 0 to 1. */
export function wordsFrom(text: string, source: string): number {
  const [words, found] = [contentWords(text), contentWords(source)];
  return [...words.keys()].filter((word) => found.has(word)).length / Math.max(1, words.size);
}
