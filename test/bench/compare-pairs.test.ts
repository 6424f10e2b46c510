import { describe, expect, it } from "vitest";
import { comparePairs, type Pair } from "../../bench/against/compare-pairs.js";

describe("a comparison of two commits", () => {
  it("The ratio is the median of the pairs' ratios, whatever slows both of a pair", () => {
    const pairs = [1, 9, 2, 30, 4].map((load): Pair => [10 * load, 11 * load]);
    const { ratio, quartiles, interval } = comparePairs(pairs);
    for (const found of [ratio, ...quartiles, ...interval]) expect(found).toBeCloseTo(1.1);
  });

  it("Quartiles and interval enclose the ratio, and more pairs narrow the interval alone", () => {
    const pairsOf = (count: number) =>
      Array.from({ length: count }, (_, at): Pair => [100, 90 + (at % 21)]);
    const [few, many] = [comparePairs(pairsOf(42)), comparePairs(pairsOf(4_200))];
    const width = ([low, high]: readonly [number, number]) => high - low;
    expect(few.quartiles).toEqual(many.quartiles);
    expect(width(many.interval)).toBeLessThan(width(few.interval) / 5);
    for (const { ratio, quartiles, interval } of [few, many])
      for (const [low, high] of [quartiles, interval]) {
        expect(low).toBeLessThanOrEqual(ratio);
        expect(high).toBeGreaterThanOrEqual(ratio);
      }
  });

  it("A figure that is 0 in both commits has not changed", () => {
    expect(comparePairs([[0, 0]]).ratio).toBe(1);
  });
});
