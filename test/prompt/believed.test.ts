import { describe, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { playHistories } from "./believed.js";

const db = useTestDatabase();

describe.each(["ledger", "every-round"] as const)("Prompts of random histories (%s)", (preset) => {
  it("Have what is always shown, nothing that has ended and nothing twice, and only grow", async () => {
    await playHistories(db, preset, { atLeast: 6 });
  });
});
