import { detailDifference, type ReadStatement } from "./detail-difference.js";

/** How a new statement stands to one that is stored already. */
export type SameFact =
  /** Two facts. */
  | "different"
  /** One fact, and the new statement adds nothing. */
  | "same"
  /** One fact, and the new statement is newer or says more: its wording should stand. */
  | "says_more";

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

/**
 * Whether two statements differ in a detail that similarity does not see: a number, a date, a negation, a name.
 *
 * Such statements are never taken for the same, however close their vectors, without a model's word for it.
 */
export function differsInDetail(first: string, second: string): boolean {
  return detailDifference(first, second) !== null;
}

/**
 * The band of two statements that are as alike as `similarity` says. What differs in a number, a date or a negation is
 * never the same; what differs in another word that matters is so only if somebody who understands both says so.
 */
export function comparison(
  similarity: number,
  [first, second]: readonly [string | ReadStatement, string | ReadStatement],
  thresholds: MergeThresholds,
): MergeBand {
  // Details decide only from here on, and reading two statements costs more than all the rest.
  if (similarity < Math.min(thresholds.ask, thresholds.merge)) return mergeBand(similarity, true, thresholds);
  const difference = detailDifference(first, second);
  const band = mergeBand(similarity, difference !== "figures", thresholds);
  return band === "merge" && difference !== null ? "ask" : band;
}

/** The band of a statement whose nearest active memory has `similarity` (in [−1, 1]). */
export function mergeBand(similarity: number, sameDetails: boolean, thresholds: MergeThresholds): MergeBand {
  if (similarity >= thresholds.ask && !sameDetails) return "review";
  if (similarity >= thresholds.merge) return "merge";
  if (similarity >= thresholds.ask) return "ask";
  return similarity >= thresholds.review ? "review" : "store";
}
