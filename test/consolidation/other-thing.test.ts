import { describe, expect, it } from "vitest";
import { isOtherThing } from "../../src/consolidation/other-thing.rule.js";

const told = (text: string, ...terms: string[]) => ({ text, terms });

describe("another thing", () => {
  it.each([
    [
      "what is liked",
      told("The user likes tea.", "user", "like", "tea"),
      told("The user likes coffee.", "user", "like", "coffe"),
      true,
    ],
    [
      "whose it is",
      told("The user's dog eats fish.", "user", "dog", "eat", "fish"),
      told("The user's cat eats fish.", "user", "cat", "eat", "fish"),
      true,
    ],
    [
      "another verb",
      told("The user likes tea.", "user", "like", "tea"),
      told("The user enjoys tea.", "user", "enjoy", "tea"),
      false,
    ],
    [
      "a name's verb",
      told("Ana likes tea.", "ana", "like", "tea"),
      told("Ana enjoys tea.", "ana", "enjoy", "tea"),
      false,
    ],
    ["another form", told("The user hikes.", "user", "alp"), told("The user hikes.", "user", "alpin"), false],
    [
      "more words",
      told("The user likes tea.", "user", "tea"),
      told("The user likes green tea.", "user", "green", "tea"),
      false,
    ],
    ["other words altogether", told("a", "fond", "hike"), told("b", "love", "trip"), false],
    ["the same words", told("a", "user", "tea"), told("b", "tea", "user"), false],
  ])("%s", (_, one, other, expected) => {
    expect(isOtherThing(one, other)).toBe(expected);
    expect(isOtherThing(other, one)).toBe(expected);
  });
});
