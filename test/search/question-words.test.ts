import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namesActor, questionWords } from "../../src/search/read-question.js";
import { searchText } from "../../src/text/search-text.js";

const asked = (question: string) => questionWords(searchText(question, "english"));

describe("questionWords", () => {
  it("are the words, once each, and those long enough to correct", () => {
    expect(asked("What did Zoë's cat, the CAT, studdy in 2024?")).toEqual({
      words: ["what", "do", "zoe", "s", "cat", "the", "studdy", "in", "2024"],
      correctable: ["studdy"],
    });
  });

  it("of more letters than words have are not corrected", () => {
    expect(asked(`studdy ${"ha".repeat(12)} ${"ha".repeat(13)} ${"k".repeat(2_046)}`).correctable).toEqual([
      "studdy",
      "ha".repeat(12),
    ]);
  });

  it("are few, whatever is asked", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000, unit: "grapheme" }), (question) => {
        const { words, correctable } = asked(question);
        expect(words.length).toBeLessThanOrEqual(64);
        expect(correctable.length).toBeLessThanOrEqual(16);
        expect(new Set(words).size).toBe(words.length);
        for (const word of correctable) expect(word).toMatch(/^[a-z]{4,24}$/);
      }),
    );
  });
});

describe("namesActor", () => {
  it.each<[string, string, boolean]>([
    ["What did Zoë study?", "Zoe", true],
    ["What did zoe's sister study?", "Zoë", true],
    ["What did Ana Maria say?", "Maria", true],
    ["What did Maria say?", "Ana Maria", true],
    ["What did Mariana say?", "Maria", false],
    ["Who said it?", "Ana", false],
    ["", "Ana", false],
  ])("%s names %s: %s", (question, actor, named) => {
    expect(namesActor(asked(question), "english")(actor)).toBe(named);
  });

  it("does not take a nameless actor for named", () => {
    expect(namesActor(asked("Who, what?"), "english")("")).toBe(false);
    expect(namesActor(asked(""), "english")("")).toBe(false);
  });
});
