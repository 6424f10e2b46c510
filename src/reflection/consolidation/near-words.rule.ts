import { shareOfCounts } from "../../text/shared-words.js";

/** A memory's words as indexed: stems without stop words, each with its count. */
export interface IndexedWords {
  readonly ref: number;
  /** Only memories of the same group are compared. */
  readonly group: string;
  readonly words: Readonly<Record<string, number>>;
}

export interface NearRefs {
  readonly first: number;
  readonly second: number;
  /** 0 to 1: 1 − cosine distance, or without embeddings Dice's coefficient of words. */
  readonly similarity: number;
}

/** Words of this many memories are too common to find neighbours. */
const tooCommon = 500;

/**
 * Finds up to `most` neighbours of each of `refs` by their share of common words: `least`, with a
 * rare one.
 */
export function nearByWords(
  all: readonly IndexedWords[],
  limits: { readonly refs: ReadonlySet<number>; readonly least: number; readonly most: number },
): NearRefs[] {
  const { refs, least, most } = limits;
  const places = new Map<string, number[]>();
  const counts = all.map(({ words }) => new Map(Object.entries(words)));
  for (const [place, words] of counts.entries()) {
    for (const word of words.keys()) {
      const withWord = places.get(word);
      if (withWord) withWord.push(place);
      else places.set(word, [place]);
    }
  }
  return all.flatMap(({ ref, group }, place) => {
    if (!refs.has(ref)) return [];
    const own = counts[place] ?? new Map();
    const withRareWord = [...own.keys()].flatMap((word) => {
      const withWord = places.get(word) ?? [];
      return withWord.length < tooCommon ? withWord : [];
    });
    return [...new Set(withRareWord)]
      .filter((other) => other !== place && all[other]?.group === group)
      .map((other): NearRefs => {
        const similarity = shareOfCounts(own, counts[other] ?? own);
        return { first: ref, second: all[other]?.ref ?? 0, similarity };
      })
      .filter(({ similarity }) => similarity >= least)
      .toSorted((one, other) => other.similarity - one.similarity || one.second - other.second)
      .slice(0, most);
  });
}
