/** What to do with a free statement, by its similarity to the nearest active memory. */
export type MergeBand =
  /** The same: count it as seen again. */
  | "merge"
  /** Perhaps the same: ask a model. */
  | "ask"
  /** Related: store it, and leave the pair to the daily worker. */
  | "review"
  /** New. */
  | "store";

/** Lower ends of the bands, in similarity. */
export interface MergeThresholds {
  readonly merge: number;
  readonly ask: number;
  readonly review: number;
}

const negation = /\b(?:not|no|never|none|cannot|without|neither|nor)\b|n['’]t\b/giu;

/** Characters of a statement that are compared: memories have fewer. */
const mostCharacters = 10_000;

/**
 * Whether two statements differ in a detail that similarity does not see: a number, a date, a negation.
 *
 * Such statements are never the same, however close their vectors.
 */
export function differsInDetail(first: string, second: string): boolean {
  const details = (whole: string) => {
    const text = whole.slice(0, mostCharacters);
    return JSON.stringify([
      (text.match(/\p{N}+(?:[.,:/-]\p{N}+)*/gu) ?? []).toSorted(),
      (text.match(negation) ?? []).length % 2,
    ]);
  };
  return details(first) !== details(second);
}

/** The band of a statement whose nearest active memory has `similarity` (in [−1, 1]). */
export function mergeBand(similarity: number, sameDetails: boolean, thresholds: MergeThresholds): MergeBand {
  if (similarity >= thresholds.ask && !sameDetails) return "review";
  if (similarity >= thresholds.merge) return "merge";
  if (similarity >= thresholds.ask) return "ask";
  return similarity >= thresholds.review ? "review" : "store";
}
