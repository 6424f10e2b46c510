import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("docs/http.md: its first program prints what the page says, from the packed package in an empty folder", async () => {
  expect(await printedBy("http")).toBe(firstProgram("http").output);
});
