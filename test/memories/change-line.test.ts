import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeLine } from "../../src/memories/changes/change-line.js";

const merged = (text: string, key: string | null = null) =>
  changeLine("merged", { category: "knowledge", key, text, importance: 3, seenCount: 2 });

describe("the line of a merge", () => {
  it.each([
    ["The user has lactose intolerance.", "lactose intolerance"],
    ["Lactose intolerance the user has.", "Lactose intolerance"],
    ["The user's sister lives in Porto, since she married.", "sister lives in Porto"],
    ["The user works as a nurse at St. Mary's Hospital.", "nurse at St. Mary's Hospital"],
    ["Der Nutzer hat eine Laktoseintoleranz.", "Laktoseintoleranz"],
    ["ユーザーは乳糖不耐症です。", "乳糖不耐症です"],
    [
      "The user plays chess at noon in the old garden of the city museum near the river with Bob.",
      "chess at noon in the old garden of the city museum",
    ],
  ])("names the topic of %j", (text, topic) => {
    expect(merged(text)).toBe(`Combined 2 notes about ${topic}`);
  });

  it.each([
    // seeds, smaller.
    ["The user is allergic to nuts.", "The user is allergic to nuts"],
    ["The user is not allergic to nuts.", "The user is not allergic to nuts"],
    ["The user does not eat meat. It makes them sick.", "The user does not eat meat"],
    ["The user cannot drink milk.", "The user cannot drink milk"],
    ["In 2021 the user moved teams twice.", "In 2021 the user moved teams twice"],
    ["Lactose intolerance was diagnosed in 2019.", "Lactose intolerance was diagnosed in 2019"],
    ["The user was told by the doctor to avoid milk.", "The user was told by the doctor to avoid milk"],
    [
      "The user was diagnosed with lactose intolerance by a doctor in Graz many years ago.",
      "The user was diagnosed with lactose intolerance by a doctor",
    ],
  ])("says what %j says, which names no topic", (text, said) => {
    expect(merged(text)).toBe(`Combined 2 notes about "${said}"`);
  });

  it("names the key of a slot", () => {
    expect(merged("The user has lactose intolerance.", "food_allergy")).toBe(
      "Combined 2 notes about food allergy",
    );
  });

  it("is never long, empty, nor of more lines than one", () => {
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
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), (words) => {
        const text = words.join(" ");
        const topic = merged(text).replace(/^Combined 2 notes about "?|"$/g, "");
        expect(topic.length).toBeLessThanOrEqual(60);
        expect(topic).not.toMatch(/[\n\uD800-\uDBFF]$|\n/);
        if (/[\p{L}\p{N}]/u.test(text)) expect(topic).not.toBe("");
      }),
    );
  });
});
