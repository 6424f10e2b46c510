import { describe, expect, it } from "vitest";
import { namesActor } from "../../src/search/read-question.js";
import { searchText } from "../../src/text/search-text.js";

const asked = (question: string) => searchText(question);

describe("namesActor", () => {
  it.each<[string, string, boolean]>([
    ["What did Zoë study?", "Zoe", true],
    ["What did zoe's sister study?", "Zoë", true],
    ["What did Ana Maria say?", "Maria", true],
    ["What did Maria say?", "Ana Maria", true],
    ["What did Mariana say?", "Maria", false],
    ["Who said it?", "Ana", false],
    ["", "Ana", false],
  ])("The question %j names %j: %s", (question, actor, named) =>
    expect(namesActor(asked(question))(actor)).toBe(named),
  );

  it("namesActor does not match an empty actor", () => {
    expect(namesActor(asked("Who, what?"))("")).toBe(false);
    expect(namesActor(asked(""))("")).toBe(false);
  });
});
