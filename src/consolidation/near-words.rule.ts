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
const common = 500;

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
  const lengths = all.map(({ words }) =>
    Object.values(words).reduce((sum, count) => sum + count, 0),
  );
  for (const [place, { words }] of all.entries()) {
    for (const word of Object.keys(words)) {
      const withWord = places.get(word);
      if (withWord) withWord.push(place);
      else places.set(word, [place]);
    }
  }
  return all.flatMap(({ ref, group, words }, place) => {
    if (!refs.has(ref)) return [];
    const withRareWord = Object.keys(words).flatMap((word) => {
      const withWord = places.get(word) ?? [];
      return withWord.length < common ? withWord : [];
    });
    return [...new Set(withRareWord)]
      .filter((other) => other !== place && all[other]?.group === group)
      .map((other): NearRefs => {
        const { ref: second, words: otherWords } = all[other] as IndexedWords;
        const total = (lengths[place] ?? 0) + (lengths[other] ?? 0);
        return { first: ref, second, similarity: (2 * sharedCount(words, otherWords)) / total };
      })
      .filter(({ similarity }) => similarity >= least)
      .toSorted((one, other) => other.similarity - one.similarity || one.second - other.second)
      .slice(0, most);
  });
}

function sharedCount(one: IndexedWords["words"], other: IndexedWords["words"]): number {
  // A word may be "constructor".
  const countIn = (word: string) => (Object.hasOwn(other, word) ? (other[word] ?? 0) : 0);
  return Object.entries(one).reduce(
    (sum, [word, count]) => sum + Math.min(count, countIn(word)),
    0,
  );
}
