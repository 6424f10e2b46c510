import { always, joined, orders } from "./instruction-patterns.js";
import { sentenceInstructs } from "./instruction-sentence.js";
import { joinedLetters, plainWords, undisguised } from "./plain-words.js";

/** Characters looked at together, and how many of them the next stretch sees again: what is looked for is not longer. */
const stretch = 4_000;
const overlap = 400;

/**
 * Whether `text` reads as instructions to a model, where a memory states something. Takes time in proportion to its
 * length.
 *
 * Word lists and patterns catch what is commonly tried; `docs/screening.md` has measured how much of it. They are one
 * layer beside the delimiting of memory in prompts and the recorded origin, and not a proof of innocence.
 *
 * @param options.orders whether plain orders are in place: steps of a procedure, lessons, what was said in a stretch of
 *   turns, a user's own wishes. @default false
 */
export function readsAsInstruction(text: string, options: { readonly orders?: boolean } = {}): boolean {
  for (let start = 0; start === 0 || start + overlap < text.length; start += stretch - overlap) {
    if (stretchInstructs(text.slice(start, start + stretch), options.orders ?? false)) return true;
  }
  return false;
}

function stretchInstructs(text: string, ordersInPlace: boolean): boolean {
  const plain = plainWords(text);
  if (!ordersInPlace && orders.some((pattern) => pattern.test(plain))) return true;
  return [plain, ...undisguised(text)].some(
    (reading) =>
      always.some((pattern) => pattern.test(reading)) ||
      sentencesOf(reading).some(sentenceInstructs) ||
      isJoined(joinedLetters(reading)),
  );
}

function isJoined(letters: string): boolean {
  return letters.length >= 20 && joined.some((pattern) => pattern.test(letters));
}

function sentencesOf(text: string): string[] {
  return text.split(/[.!?;。！？؟।॥።\n]+/);
}
