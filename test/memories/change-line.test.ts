import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeLine } from "../../src/memories/audit/memory-change.js";
import { forAll } from "../support/for-all.js";

const merged = (text: string, key: string | null = null) =>
  changeLine("merged", { category: "knowledge", key, text, importance: 3, seenCount: 2 });

describe("change lines of merges", () => {
  it.each([
    ["The user is allergic to peanuts.", "The user is allergic to peanuts"],
    ["The user's sister lives in Porto. She married.", "The user's sister lives in Porto"],
    [
      "The user works as a nurse at St. Mary's Hospital.",
      "The user works as a nurse at St. Mary's Hospital",
    ],
    ["The user does not eat meat. It makes them sick.", "The user does not eat meat"],
    ["ユーザーは乳糖不耐症です。", "ユーザーは乳糖不耐症です"],
    [
      "The user was diagnosed with lactose intolerance by a doctor in Graz many years ago.",
      "The user was diagnosed with lactose intolerance by a doctor",
    ],
  ])("The change line of a merge quotes the first sentence of %j from its start", (text, said) =>
    expect(merged(text)).toBe(`Combined 2 notes about "${said}"`),
  );

  it("The change line of a merge names the key of a slot", () =>
    expect(merged("The user has lactose intolerance.", "food_allergy")).toBe(
      "Combined 2 notes about food allergy",
    ));

  it("The change line of a merge is one short line that is not empty", () => {
    const word = fc.constantFrom(
      "The user",
      "has",
      "is",
      "a",
      ".",
      ",",
      "\n",
      "lactose",
      "😀",
      "x".repeat(80),
      "…",
    );
    forAll(fc.array(word, { minLength: 1, maxLength: 30 }), (words) => {
      const text = words.join(" ");
      const topic = merged(text).replace(/^Combined 2 notes about "?|"$/g, "");
      expect(topic.length).toBeLessThanOrEqual(60);
      expect(topic).not.toMatch(/[\n\uD800-\uDBFF]$|\n/);
      if (/[\p{L}\p{N}]/u.test(text)) expect(topic).not.toBe("");
    });
  });
});
