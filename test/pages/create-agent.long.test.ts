import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("The first program of docs/create-agent.md prints what the page says in an empty project", async () => {
  expect(await printedBy("create-agent")).toBe(firstProgram("create-agent").output);
});
