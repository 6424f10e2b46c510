import { normalForm } from "./normal-value.js";

/** Characters of a text that are compared: memories have fewer. */
const mostCharacters = 10_000;

/** How many of two texts' words are shared, 0 to 1: twice the shared ones over all (Dice's coefficient). */
export function sharedWords(first: string, second: string): number {
  const [one, other] = [wordsOf(first), wordsOf(second)];
  const shared = [...one].filter((word) => other.has(word)).length;
  return one.size + other.size === 0 ? 0 : (2 * shared) / (one.size + other.size);
}

function wordsOf(text: string): Set<string> {
  return new Set(
    normalForm(text.slice(0, mostCharacters), "NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [],
  );
}
