/** Similarity of the best of `hits`; null without any. */
export function bestSimilarity(hits: readonly { readonly similarity: number }[]): number | null {
  return hits.length === 0 ? null : Math.max(...hits.map(({ similarity }) => similarity));
}
