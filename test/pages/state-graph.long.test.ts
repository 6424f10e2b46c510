import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("The first program of docs/state-graph.md prints what the page says in an empty project", async () => {
  expect(await printedBy("state-graph")).toBe(firstProgram("state-graph").output);
});
