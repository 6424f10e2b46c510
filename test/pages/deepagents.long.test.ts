import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("docs/deepagents.md: its first program prints what the page says, from the packed package in an empty folder", async () => {
  expect(await printedBy("deepagents")).toBe(firstProgram("deepagents").output);
});
