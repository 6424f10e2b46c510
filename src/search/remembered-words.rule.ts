import { retrievalWeights as weights } from "./retrieval-options.js";

/** A word of a question: see `words.sql`. */
export type AskedWord = readonly [lexeme: string, isPart: boolean, isAside: boolean];

/** A word of the question in the text at `place`, which has `length` words. */
export type FoundWord = readonly [place: number, lexeme: string, frequency: number, length: number];

export interface TextFit {
  /** BM25, as a share of what a text with the question's rarest words would score. */
  readonly words: number;
  readonly hasIdentifier: boolean;
}

/** Unseen texts, since rarity among three texts says next to nothing. */
const unseenTexts = 20;
const maxTextsOfIdentifier = 5;
const identifier = /[0-9@]|\p{L}{2}\.\p{L}{2}|\/.*\//u;
/** A pair of characters, of scripts without spaces: every other one lies across two words. */
const pair = /^\P{ASCII}{1,2}$/u;

/**
 * How well texts that are in no index fit a question: the formulas of `question_terms_1` and
 * `search_memories_1`, with the counts of these `total` texts.
 */
export function fitOfWords(
  asked: readonly AskedWord[],
  found: readonly FoundWord[],
  { total, averageLength }: { readonly total: number; readonly averageLength: number },
): ReadonlyMap<number, TextFit> {
  const texts = new Map<string, number>();
  for (const [, lexeme] of found) texts.set(lexeme, (texts.get(lexeme) ?? 0) + 1);
  const worth = worthOf(asked, (lexeme) => texts.get(lexeme) ?? 0, total);
  const isPart = new Map(asked.map(([lexeme, part]) => [lexeme, part]));

  const pairs = asked.filter(([lexeme]) => pair.test(lexeme)).length;
  const expected = Math.min(weights.expectedTerms, asked.length - Math.floor(pairs / 2));
  const best = sumOf(greatestFirst([...worth.values()]).slice(0, expected));

  const { k1, b } = weights;
  const fits = new Map<number, TextFit>();
  for (const [place, lexeme, frequency, length] of found) {
    const tf = Math.max(frequency, weights.part);
    const norm = k1 * (1 - b + (b * length) / Math.max(1, averageLength));
    const before = fits.get(place);
    const share = ((worth.get(lexeme) ?? 0) * tf) / (tf + norm) / best;
    const isIdentifier =
      frequency > 0 &&
      !isPart.get(lexeme) &&
      (texts.get(lexeme) ?? 0) <= maxTextsOfIdentifier &&
      lexeme.length > 2 &&
      identifier.test(lexeme);
    fits.set(place, {
      words: (before?.words ?? 0) + share,
      hasIdentifier: (before?.hasIdentifier ?? false) || isIdentifier,
    });
  }
  return fits;
}

/** What each word is worth: its inverse document frequency; less for words beside the question. */
function worthOf(
  asked: readonly AskedWord[],
  textsWith: (lexeme: string) => number,
  total: number,
): ReadonlyMap<string, number> {
  const idfs = asked.map(([lexeme, isPart, isAside]) => {
    // A word of no text is as rare as one of a single text.
    const count = Math.max(1, textsWith(lexeme));
    const idf = Math.log(1 + (unseenTexts + Math.max(total, count) - count + 0.5) / (count + 0.5));
    return { lexeme, isAside, idf: isPart ? idf * weights.part : idf };
  });
  const idfsOf = (which: typeof idfs) => which.map(({ idf }) => idf);
  const rarest = sumOf(greatestFirst(idfsOf(idfs)).slice(0, weights.expectedTerms));
  const main = sumOf(idfsOf(idfs.filter(({ isAside }) => !isAside)));
  const aside = sumOf(idfsOf(idfs.filter(({ isAside }) => isAside)));
  const asideFactor = Math.min(1, (weights.aside * Math.max(rarest, main)) / aside);
  return new Map(
    idfs.map(({ lexeme, isAside, idf }) => [lexeme, isAside ? idf * asideFactor : idf]),
  );
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

const greatestFirst = (numbers: readonly number[]): number[] =>
  numbers.toSorted((one, other) => other - one);
