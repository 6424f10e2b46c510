import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it("The first program of docs/http.md prints what the page says in an empty project", async () => {
  expect(await printedBy("http")).toBe(firstProgram("http").output);
});
