import { percentile } from "../timing.js";

/** One figure of both commits, from slices that were measured one right after the other. */
export type Pair = readonly [before: number, after: number];

/** A figure of two commits. */
export interface Comparison {
  readonly pairs: number;
  /** Medians. */
  readonly before: number;
  readonly after: number;
  /** Median of after ÷ before of each pair: what slows both does not change it. */
  readonly ratio: number;
  /** Half of the pairs' ratios are between these. */
  readonly quartiles: readonly [low: number, high: number];
  /** The ratio of endlessly many pairs is between these, with a probability of 95 %. */
  readonly interval: readonly [low: number, high: number];
}

/** Compares what pairs of slices measured. */
export function comparePairs(pairs: readonly Pair[]): Comparison {
  // Of nothing, nothing has become nothing.
  const ratios = pairs.map(([before, after]) => (before === after ? 1 : after / before));
  // Ranks of a binomial distribution, by its normal approximation: 1.96 × half of √pairs.
  const margin = 0.98 / Math.sqrt(pairs.length);
  const between = (low: number, high: number) =>
    [
      percentile(ratios, Math.max(1 / pairs.length, low)),
      percentile(ratios, Math.min(1, high)),
    ] as const;
  return {
    pairs: pairs.length,
    before: percentile(
      pairs.map(([before]) => before),
      0.5,
    ),
    after: percentile(
      pairs.map(([, after]) => after),
      0.5,
    ),
    ratio: percentile(ratios, 0.5),
    quartiles: between(0.25, 0.75),
    interval: between(0.5 - margin, 0.5 + margin),
  };
}
