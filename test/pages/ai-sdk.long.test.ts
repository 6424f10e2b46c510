import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("The first program of docs/ai-sdk.md prints what the page says in an empty project", async () => {
  expect(await printedBy("ai-sdk")).toBe(firstProgram("ai-sdk").output);
});
