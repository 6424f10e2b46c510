/** Texts without any of the words, added to those there are: rarity among three texts says next to nothing. */
export const unseenTexts = 20;

/**
 * Of a long question, the words that are to be found: who tells a story and asks about one thing in it does not
 * expect an answer with all of its words.
 */
export const expectedTerms = 6;

/** Texts from which on a collection is large: terms that most of them have may be passed over. */
export const manyTexts = 200;

/** A term that is searched for. A corrected word's readings have the `term` that they stand for, and a `lexeme` each. */
export interface AskedTerm {
  /** Terms are numbered: each reading is one of its own. */
  readonly n: number;
  readonly term: string;
  readonly lexeme: string;
  /** What it counts beside others, 0 to 1. */
  readonly weight: number;
}

/** The texts of an owner that terms are looked up in: its memories, or its messages. */
export interface OwnerTexts {
  readonly count: number;
  /** Words of all of them together. */
  readonly length: number;
  /** How many of them have the lexeme. */
  readonly found: (lexeme: string) => number;
}

/** A term with what it is worth among the texts of one owner. */
export interface WeightedTerm extends AskedTerm {
  /** Place of the owner in the list given. */
  readonly owner: number;
  readonly gain: number;
  /** Average length of the owner's texts, at least 1. */
  readonly average: number;
}

/**
 * Rarity of a term that `found` of `all` texts have (Lucene's idf, which is never negative). A term that none has is
 * as rare as one that a single text has: else unknown words would weigh most.
 */
export function rarityOf(all: number, found: number, unseen: number = unseenTexts): number {
  const some = Math.max(found, 1);
  return Math.log(1 + (Math.max(all, found, 1) + unseen - some + 0.5) / (some + 0.5));
}

/** What a text scores that has the rarest of `terms` endlessly often; scores are shares of it. 0 for no terms. */
export function idealOf(terms: readonly Pick<WeightedTerm, "term" | "gain">[]): number {
  const gains = new Map<string, number>();
  for (const { term, gain } of terms) gains.set(term, Math.max(gain, gains.get(term) ?? 0));
  const rarest = [...gains.values()].sort((first, second) => second - first).slice(0, expectedTerms);
  return rarest.reduce((sum, gain) => sum + gain, 0);
}

/**
 * `terms` for each of `owners`, with what they are worth there. Left out is what may be passed over: a term that most texts of
 * a large collection have, where the question has a rarer one. It would hardly change the order and costs the most to read.
 */
export function weightedTerms(terms: readonly AskedTerm[], owners: readonly OwnerTexts[]): WeightedTerm[] {
  return owners.flatMap(({ count, length, found }, owner) => {
    const counted = terms.map((term) => ({ term, texts: found(term.lexeme) }));
    const half = count / 2;
    const someRare = counted.some(({ texts }) => texts >= 1 && texts <= half);
    const isCommon = (texts: number) => texts > half && count >= manyTexts && someRare;
    const average = Math.max(1, length / Math.max(1, count));
    return counted
      .filter(({ texts }) => !isCommon(texts))
      .map(({ term: { n, term, lexeme, weight }, texts }) => {
        return { n, term, lexeme, weight, owner, average, gain: weight * rarityOf(count, texts) };
      });
  });
}

/** How often a text has a term, for a text of average length (BM25's length norm). */
export function normedFrequency(frequency: number, length: number, average: number, b: number): number {
  return frequency / (1 - b + (b * length) / average);
}

/** 0 to 1: the first mention says most, further ones less and less (BM25's saturation; Robertson & Zaragoza 2009). */
export function saturation(frequency: number, k1: number): number {
  return frequency / (frequency + k1);
}
