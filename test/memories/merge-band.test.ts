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

describe("statements", () => {
  it.each([
    ["The user runs 5 km.", "The user runs 10 km."],
    ["The user was born on 1990-03-05.", "The user was born on 1990-05-03."],
    ["The user eats meat.", "The user does not eat meat."],
    ["The user likes tea.", "The user doesn't like tea."],
    ["The user always smokes.", "The user never smokes."],
    ["The user has 2 cats and 3 dogs.", "The user has 2 cats and 2 dogs."],
  ])("differ in a detail: %s / %s", (first, second) => {
    expect([differsInDetail(first, second), differsInDetail(second, first)]).toEqual([true, true]);
  });

  it.each([
    ["The user likes tea.", "The user enjoys tea."],
    ["The user runs 5 km at 6:30.", "At 6:30 the user runs 5 km."],
    ["The user never never smokes.", "The user smokes."],
    ["Notable people live there.", "People live there."],
  ])("do not: %s / %s", (first, second) => {
    expect(differsInDetail(first, second)).toBe(false);
  });
});
