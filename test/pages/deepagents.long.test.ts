import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("The first program of docs/deepagents.md prints what the page says in an empty project", async () => {
  expect(await printedBy("deepagents")).toBe(firstProgram("deepagents").output);
});
