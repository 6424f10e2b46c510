import { searchText } from "./search-text.js";

/** What a question names besides its words. */
export interface QuestionWords {
  /** Its words in lower case, once each: a speaker's name may be among them. */
  readonly words: readonly string[];
  /** Those long enough to be worth correcting when the index does not know them. */
  readonly correctable: readonly string[];
}

/** Shorter words have too many neighbours to be corrected. */
const shortestCorrectable = 4;

/** The words of `text` (as `searchText` prepared it). */
export function questionWords(text: string): QuestionWords {
  const words = [...new Set(text.match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, 64);
  const correctable = words
    .filter((word) => word.length >= shortestCorrectable && /^[a-z]+$/.test(word))
    .slice(0, 16);
  return { words, correctable };
}

/** Whether a question names an actor: by any word of the actor's name. */
export function namesActor({ words }: QuestionWords, language: string): (actor: string) => boolean {
  const asked = new Set(words);
  return (actor) =>
    searchText(actor, language)
      .split(/\s+/)
      .some((word) => asked.has(word));
}
