import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differsInDetail, mergeBand } from "../../src/memories/compare/merge-band.js";

const thresholds = { merge: 0.95, ask: 0.85, review: 0.75 };

describe("the band of a similarity", () => {
  it.each([
    [1, "merge"],
    [0.95, "merge"],
    [0.949, "ask"],
    [0.85, "ask"],
    [0.849, "review"],
    [0.75, "review"],
    [0.749, "store"],
    [-1, "store"],
  ] as const)("%f is %s", (similarity, band) => {
    expect(mergeBand(similarity, true, thresholds)).toBe(band);
  });

  it("never makes one of statements that differ in a detail", () => {
    fc.assert(
      fc.property(fc.double({ min: -1, max: 1, noNaN: true }), (similarity) => {
        expect(["review", "store"]).toContain(mergeBand(similarity, false, thresholds));
      }),
    );
  });

  it("rises with the similarity", () => {
    const order = ["store", "review", "ask", "merge"];
    const similarity = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(similarity, similarity, (first, second) => {
        const [low, high] = [Math.min(first, second), Math.max(first, second)];
        const rank = (value: number) => order.indexOf(mergeBand(value, true, thresholds));
        expect(rank(low)).toBeLessThanOrEqual(rank(high));
      }),
    );
  });
});

it("statements differ in a detail, and not in their order or wording", () => {
  expect(differsInDetail("The user runs 5 km.", "The user runs 10 km.")).toBe(true);
  expect(differsInDetail("The user runs 5 km at 6:30.", "At 6:30 the user runs 5 km.")).toBe(false);
});
