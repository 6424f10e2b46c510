import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { playHistories } from "./believed.js";

const db = useTestDatabase();

// Of both presets; `PROMPT_HISTORIES=1000` plays so many, however long it takes.
const { PROMPT_HISTORIES: given } = process.env;
const howMany = given ? { atLeast: Number(given) / 2 } : { atLeast: 50, processorMs: 120_000 };

describe.each(["ledger", "every-round"] as const)("Prompts of many histories (%s)", (preset) => {
  it(
    "Have what is always shown, nothing that has ended and nothing twice, and only grow",
    async () => {
      expect((await playHistories(db, preset, howMany)).quoted).toBeGreaterThan(0);
    },
    24 * 3_600_000,
  );
});
