import { detailDifference, type ReadStatement } from "./detail-difference.js";

/** Two facts; one fact, with nothing new; or one fact, said later or with more. */
export type SameFact = "different" | "same" | "says_more";

/** "merge": count it as seen again. "ask": ask a model. "review": store it for the daily worker. "store": it is new. */
export type MergeBand = "merge" | "ask" | "review" | "store";

/** Lower ends of the bands, in similarity. */
export interface MergeThresholds {
  readonly merge: number;
  readonly ask: number;
  readonly review: number;
}

/** Such statements are never the same without a model's word, however close their vectors. */
export function differsInDetail(first: string, second: string): boolean {
  return detailDifference(first, second) !== null;
}

/** Statements that differ in figures stay two. Other details need a model. */
export function comparison(
  similarity: number,
  [first, second]: readonly [string | ReadStatement, string | ReadStatement],
  thresholds: MergeThresholds,
): MergeBand {
  // Reading two statements costs more than all the rest.
  if (similarity < Math.min(thresholds.ask, thresholds.merge)) return mergeBand(similarity, true, thresholds);
  const difference = detailDifference(first, second);
  const band = mergeBand(similarity, difference !== "figures", thresholds);
  return band === "merge" && difference !== null ? "ask" : band;
}

/** `similarity` is that of the nearest active memory, in [−1, 1]. */
export function mergeBand(similarity: number, sameDetails: boolean, thresholds: MergeThresholds): MergeBand {
  if (similarity >= thresholds.ask && !sameDetails) return "review";
  if (similarity >= thresholds.merge) return "merge";
  if (similarity >= thresholds.ask) return "ask";
  return similarity >= thresholds.review ? "review" : "store";
}
