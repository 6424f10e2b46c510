import { defaultFloor } from "./retrieval-weights.js";

/**
 * Those of `hits` that are alike enough: all with at least `threshold` as similarity, where one is given; else by their
 * `evidence` (similarity, unless that is said apart) and by `floor`, which leaves nothing when there is hardly any even
 * for the best hit.
 */
export function aboveFloor<Hit extends { readonly similarity: number; readonly evidence?: number }>(
  hits: readonly Hit[],
  threshold: number | undefined,
  floor: { readonly best: number; readonly each: number } = defaultFloor,
): Hit[] {
  if (threshold !== undefined) return hits.filter(({ similarity }) => similarity >= threshold);
  const evidenceOf = ({ evidence, similarity }: Hit) => evidence ?? similarity;
  return hits.some((hit) => evidenceOf(hit) >= floor.best)
    ? hits.filter((hit) => evidenceOf(hit) >= floor.each)
    : [];
}
