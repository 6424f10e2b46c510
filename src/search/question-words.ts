import { searchName } from "../text/search-text.js";

/** What a question names besides its words. */
export interface QuestionWords {
  /** Its words in lower case, once each: a speaker's name may be among them. */
  readonly words: readonly string[];
  /** Those of a length worth correcting when the index does not know them. */
  readonly correctable: readonly string[];
}

/** Shorter words have too many neighbours to be corrected. */
const shortestCorrectable = 4;

/**
 * Longer ones are no words: "uncharacteristically" has 20 letters. A word of n letters has 54 n neighbours of n letters,
 * which are made and looked up all: 24 letters are 30 kB of them, 500 are 13 MB.
 */
const longestCorrectable = 24;

const correctable = new RegExp(`^[a-z]{${shortestCorrectable},${longestCorrectable}}$`);

/**
 * Words that people ask with: a store that does not know them does not make them misspelt, and looking for other
 * spellings of a word costs more than all the rest of a search.
 */
const askedWith = new Set(
  (
    "about again anything anyone ask asked been could ever everything find found gave give happen happened happens have " +
    "help helped knew know known like liked list look looked made make mean means meant mention mentioned need please " +
    "recall remember remembered remind reminded said say show something talk talked tell thing things think thought told " +
    "want wanted went what when where which would your"
  ).split(" "),
);

/** Characters that are read: more than `searchText` makes of a question. */
const mostCharacters = 50_000;

/** The words of `text` (as `searchText` prepared it). */
export function questionWords(text: string): QuestionWords {
  const words = [...new Set(text.slice(0, mostCharacters).match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, 64);
  const corrected = words.filter((word) => correctable.test(word) && !askedWith.has(word));
  return { words, correctable: corrected.slice(0, 16) };
}

/** Whether a question names an actor: by any word of the actor's name. */
export function namesActor({ words }: QuestionWords, language: string): (actor: string) => boolean {
  const asked = new Set(words);
  return (actor) =>
    searchName(actor, language)
      .split(/\s+/)
      .some((word) => asked.has(word));
}
