import { describe, expect, it } from "vitest";
import { namesActor } from "../../src/search/read-question.js";

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
    expect(namesActor(question)(actor)).toBe(named),
  );

  it("namesActor does not match an empty actor", () => {
    expect(namesActor("Who, what?")("")).toBe(false);
    expect(namesActor("")("")).toBe(false);
  });
});
