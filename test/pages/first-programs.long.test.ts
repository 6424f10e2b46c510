import { expect, it } from "vitest";
import { firstProgram, printedBy } from "../support/packed.js";

it.each(["ai-sdk", "create-agent", "deepagents", "http", "state-graph", "supervisor"])(
  "The first program of docs/%s.md prints what the page says in an empty project",
  async (page) => {
    expect(await printedBy(page)).toBe(firstProgram(page).output);
  },
);
