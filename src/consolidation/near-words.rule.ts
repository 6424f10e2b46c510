/** A memory's words as indexed: stems without stop words, each with its count. */
export interface IndexedWords {
  readonly ref: number;
  /** Only memories of one group are compared. */
  readonly group: string;
  readonly words: Readonly<Record<string, number>>;
}

export interface NearRefs {
  readonly first: number;
  readonly second: number;
  /** 0 to 1: 1 − cosine distance, or without embeddings Dice's coefficient of words. */
  readonly similarity: number;
}

/** A word of so many memories finds no neighbours: it says little about any. */
const common = 500;

/** The `most` nearest memories of each, which share at least `least` of their words with it, one of them rare. */
export function nearByWords(
  all: readonly IndexedWords[],
  limits: { readonly refs: ReadonlySet<number>; readonly least: number; readonly most: number },
): NearRefs[] {
  const { refs, least, most } = limits;
  const places = new Map<string, number[]>();
  const lengths = all.map(({ words }) => Object.values(words).reduce((sum, count) => sum + count, 0));
  for (const [place, { words }] of all.entries()) {
    for (const word of Object.keys(words)) {
      const known = places.get(word);
      if (known) known.push(place);
      else places.set(word, [place]);
    }
  }
  return all.flatMap(({ ref, group, words }, place) => {
    if (!refs.has(ref)) return [];
    const rare = Object.keys(words).flatMap((word) => {
      const having = places.get(word) ?? [];
      return having.length < common ? having : [];
    });
    const others = [...new Set(rare)].filter((other) => other !== place && all[other]?.group === group);
    return others
      .map((other): NearRefs => {
        const { ref: second, words: its } = all[other] as IndexedWords;
        const both = (lengths[place] ?? 0) + (lengths[other] ?? 0);
        return { first: ref, second, similarity: (2 * shared(words, its)) / both };
      })
      .filter(({ similarity }) => similarity >= least)
      .toSorted((one, other) => other.similarity - one.similarity || one.second - other.second)
      .slice(0, most);
  });
}

function shared(one: IndexedWords["words"], other: IndexedWords["words"]): number {
  // A word may be "constructor".
  const times = (word: string) => (Object.hasOwn(other, word) ? (other[word] ?? 0) : 0);
  return Object.entries(one).reduce((sum, [word, count]) => sum + Math.min(count, times(word)), 0);
}
