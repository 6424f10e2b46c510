import { haveSameFigures } from "../../text/figures.js";
import { contentHash } from "../../text/normal-value.js";

/** Two facts; one fact, with nothing new; or one fact, said later or with more. */
export type SameFact = "different" | "same" | "says_more";

/** "merge": count it as seen again. "ask": ask a model. "review": store it for the daily worker. "store": it is new. */
export type MergeBand = "merge" | "ask" | "review" | "store";

/** Lower ends of the bands, in similarity. */
export interface MergeThresholds {
  readonly ask: number;
  readonly review: number;
}

/**
 * Near statements are one where only case, spaces and the like differ, and two where figures do. What other words mean
 * only a model can tell, however close their vectors.
 *
 * @param similarity in [−1, 1].
 */
export function comparison(
  similarity: number,
  [first, second]: readonly [string, string],
  { ask, review }: MergeThresholds,
): MergeBand {
  if (similarity < ask) return similarity < review ? "store" : "review";
  if (contentHash(first) === contentHash(second)) return "merge";
  return haveSameFigures(first, second) ? "ask" : "review";
}
