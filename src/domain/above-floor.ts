import { defaultFloor } from "./retrieval-weights.js";

/**
 * Those of `hits` that are alike enough: all with at least `threshold`, where one is given; else by `defaultFloor`,
 * which leaves nothing when even the best hit is hardly alike.
 */
export function aboveFloor<Hit extends { readonly similarity: number }>(
  hits: readonly Hit[],
  threshold: number | undefined,
): Hit[] {
  const best = Math.max(0, ...hits.map(({ similarity }) => similarity));
  if (threshold === undefined && best < defaultFloor.best) return [];
  const least = threshold ?? defaultFloor.each;
  return hits.filter(({ similarity }) => similarity >= least);
}
