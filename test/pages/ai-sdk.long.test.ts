import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("docs/ai-sdk.md: its first program prints what the page says, from the packed package in an empty folder", async () => {
  expect(await printedBy("ai-sdk")).toBe(firstProgram("ai-sdk").output);
});
