/** Similarity of the best of `hits`; null without any. */
export function bestSimilarity(hits: readonly { readonly similarity: number }[]): number | null {
  return hits.reduce<number | null>((best, { similarity }) => Math.max(best ?? similarity, similarity), null);
}
