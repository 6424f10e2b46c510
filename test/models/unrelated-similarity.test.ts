import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assumedUnrelated,
  measureUnrelated,
  minSimilarity,
  nearness,
  similarityScale,
} from "../../src/models/unrelated-similarity.rule.js";
import { forAll } from "../support/for-all.js";

const cosine = fc.double({ min: -1, max: 1, noNaN: true });
const space = fc.record({ mean: cosine, spread: fc.double({ min: 0, max: 1, noNaN: true }) });

describe("similarityScale", () => {
  it("similarityScale has its floor between unrelated and equal", () =>
    forAll(space, (unrelated) => {
      const { from, floor } = similarityScale(unrelated);
      expect(from).toBeGreaterThanOrEqual(0);
      expect(floor).toBeGreaterThan(from);
      expect(floor).toBeLessThan(1);
      if (unrelated.mean < 0.9) expect(floor).toBeGreaterThan(unrelated.mean);
    }));

  it("similarityScale of an unmeasured space has its floor at 0.1", () =>
    expect(similarityScale(assumedUnrelated)).toEqual({ from: 0, floor: 0.1, contrast: 12 }));
});

describe("minSimilarity", () => {
  it.each([
    ["bge-small-en-v1.5", 0.365, 0.061, [0.556, 0.64, 0.731]],
    ["all-MiniLM-L6-v2", 0.053, 0.075, [0.337, 0.391, 0.503]],
    ["e5-small-v2", 0.7, 0.021, [0.79, 0.795, 0.826]],
  ] as const)("minSimilarity follows from the unrelated texts of %s", (_, mean, spread, least) =>
    expect(
      (["episode", "linked", "asked"] as const).map((level) =>
        minSimilarity({ unrelated: { mean, spread } }, level),
      ),
    ).toEqual(least.map((each) => expect.closeTo(each, 2))),
  );

  it("minSimilarity asks about fewer statements than it links, all above the floor", () =>
    forAll(space, (unrelated) => {
      const linked = minSimilarity({ unrelated }, "linked");
      const asked = minSimilarity({ unrelated }, "asked");
      expect(linked).toBeGreaterThanOrEqual(similarityScale(unrelated).floor);
      expect(asked).toBeGreaterThan(linked);
    }));
});

it("Nearness grows with similarity, from 0 for unrelated to 1 for equal", () =>
  forAll(space, cosine, cosine, (unrelated, one, other) => {
    const scale = similarityScale(unrelated);
    const [less, more] = [Math.min(one, other), Math.max(one, other)];
    expect(nearness(less, scale)).toBeLessThanOrEqual(nearness(more, scale));
    expect(nearness(scale.from, scale)).toBe(0);
    expect(nearness(1, scale)).toBe(1);
    expect(nearness(null, scale)).toBe(0);
  }));

describe("measureUnrelated", () => {
  it.each<[string, number[][], number[][]]>([
    ["none", [], []],
    ["no statements", [[1, 0]], []],
    ["zeros", [[0, 0]], [[1, 0]]],
    ["other lengths", [[1, 0]], [[1, 0, 0]]],
    ["all the same", [[1, 1]], [2, 3].map((n) => [n, n])],
    ["no numbers", [[Number.NaN, 1]], [[1, 1]]],
  ])("measureUnrelated returns null for %s", (_, questions, statements) =>
    expect(measureUnrelated(questions, statements)).toBeNull(),
  );
});
