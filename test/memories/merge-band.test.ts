import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparison } from "../../src/memories/compare/merge-band.js";

const thresholds = { ask: 0.85, review: 0.75 };
const tea = ["The user likes tea.", "The user enjoys tea."] as const;

it.each([
  [1, "ask"],
  [0.85, "ask"],
  [0.849, "review"],
  [0.75, "review"],
  [0.749, "store"],
  [-1, "store"],
] as const)("two statements in other words of similarity %f: %s", (similarity, band) => {
  expect(comparison(similarity, tea, thresholds)).toBe(band);
});

const similarity = fc.double({ min: -1, max: 1, noNaN: true });
const near = fc.double({ min: thresholds.ask, max: 1, noNaN: true });
const words = fc.constantFrom(
  "The user pays",
  "euros for",
  "用户",
  "المستخدم",
  "not",
  "on Monday",
  "–",
  "n°",
  "§",
  ".",
);
const someNumber = fc.integer({ min: 0, max: 99_999 });
const text = fc
  .array(fc.oneof(words, someNumber.map(String)), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(" "));

describe("whatever is told", () => {
  it("different figures never merge, nor are they asked about", () => {
    fc.assert(
      fc.property(text, someNumber, someNumber, similarity, (said, one, other, alike) => {
        fc.pre(one !== other);
        const pair = [`${said} is ${one}`, `${said} is ${other}`] as const;
        expect(["review", "store"]).toContain(comparison(alike, pair, thresholds));
      }),
    );
  });

  it("equal normal forms merge once they are near enough", () => {
    fc.assert(
      fc.property(text, near, (said, alike) => {
        const again = `${said.toUpperCase().replaceAll(" ", "  ")}!`;
        expect(comparison(alike, [said, again], thresholds)).toBe("merge");
      }),
    );
  });

  it("it makes no difference which is told first, nor does more similarity part two", () => {
    const order = ["store", "review", "ask", "merge"];
    fc.assert(
      fc.property(text, text, similarity, similarity, (one, other, first, second) => {
        expect(comparison(first, [one, other], thresholds)).toBe(comparison(first, [other, one], thresholds));
        const [low, high] = [Math.min(first, second), Math.max(first, second)];
        const rank = (at: number) => order.indexOf(comparison(at, [one, other], thresholds));
        expect(rank(low)).toBeLessThanOrEqual(rank(high));
      }),
    );
  });
});
