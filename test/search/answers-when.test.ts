import { describe, expect, it } from "vitest";
import { answersWhen } from "../../src/search/question-dates.rule.js";

const times = [
  "We went there last Saturday.",
  "I started two years ago",
  "It's in July.",
  "Just came back!",
  "2019.",
];

describe("answersWhen", () => {
  it.each([
    "When did Ana go to the sea?",
    "since when does he paint",
    "How long has Ben known her?",
    "In which month did they move?",
    "What year was that?",
  ])("knows that a time is asked for: %s", (question) => {
    for (const text of times) expect(answersWhen(question)(text)).toBe(true);
    expect(answersWhen(question)("I love the sea.")).toBe(false);
  });

  it.each(["What does Ana do when it rains?", "How does Ben like the long days?", ""])(
    "knows that none is asked for: %s",
    (question) => {
      for (const text of times) expect(answersWhen(question)(text)).toBe(false);
    },
  );
});
