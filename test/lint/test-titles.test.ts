import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { problemOf, titlesIn } from "./title-rules.js";

const folder = fileURLToPath(new URL("..", import.meta.url));

describe("titles of tests", () => {
  it("No title of a test breaks the rules for titles", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const titles = files
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => titlesIn(join(folder, file)).map((title) => ({ file, ...title })));
    expect(titles.filter(({ of }) => of === "test").length).toBeGreaterThan(1_000);
    const broken = titles.flatMap(({ file, ...title }) => {
      const problem = problemOf(title);
      return problem === null ? [] : [`test/${file}:${title.line} ${problem}: ${title.text}`];
    });
    expect(broken).toEqual([]);
  });

  it.each([
    ["Users H3: tasks are recorded as tasks", "begins with a label"],
    ["operators M1, M2: jobs are listed", "begins with a label"],
    ["S8: words are quoted", "begins with a label"],
    ["Offline: the chat introduces itself", "begins with a label"],
    ["answers.md 1: the answer is whole", "begins with a label"],
    ["is shown to the user", "begins with neither a capital, a digit nor a name in code"],
    ["doctor finds nothing wrong", "begins with neither a capital, a digit nor a name in code"],
    ["It works", "has fewer than three words"],
    ["%s", "has fewer than three words"],
  ])("The title %j is refused, since it %s", (text, problem) => {
    expect(problemOf({ of: "test", text })).toBe(problem);
  });

  it.each([
    "A run is refused",
    "20 turns yield facts",
    "%s %j changes no file",
    "$kind work is retried once",
    "`doctor` finds nothing wrong",
    "modelView marks its copies",
    "threads.delete ends running work",
    "close() keeps the caller's pool open",
    "memory.%s has no deadline",
    "/consents lists the proposals",
    "No rule reports: %s",
    "A forgotten memory excludes nothing else: words of others, or new words of the user",
  ])("The title %j is accepted", (text) => {
    expect(problemOf({ of: "test", text })).toBeNull();
  });

  it("The name of a group is refused only for a label", () => {
    expect(problemOf({ of: "group", text: "prompt 7: breakpoints" })).toBe("begins with a label");
    expect(problemOf({ of: "group", text: "breakpoints" })).toBeNull();
  });
});
