import { plainText } from "./search-text.js";

const mostCharacters = 10_000;
const ascii = /^[\x20-\x7e]*$/;
/** "The user" begins most memories; shorter words ("is", "a", "to") occur in any sentence. */
const isFrame = /^(?:the|user|\p{Script=Latin}{1,2})$/u;

/** The words that say what `text` is about; pairs of characters of scripts without spaces. */
export function contentWords(text: string): ReadonlySet<string> {
  const head = text.slice(0, mostCharacters);
  // Preparing a text takes longer than all else here.
  const plain = ascii.test(head) ? head.toLowerCase() : plainText(head);
  const words = plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !isFrame.test(word)));
}

/** The share of common words, 0 to 1 (Dice's coefficient). */
export const sharedWords = (first: string, second: string): number =>
  shareOfBoth(contentWords(first), contentWords(second));

export function shareOfBoth(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((word) => other.has(word)).length;
  return one.size + other.size === 0 ? 0 : (2 * shared) / (one.size + other.size);
}

/** The same of words that occur several times each. */
export function shareOfCounts(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): number {
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
  return [...words].filter((word) => found.has(word)).length / Math.max(1, words.size);
}
