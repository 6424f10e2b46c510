import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { playHistories } from "./believed.js";

const db = useTestDatabase();

describe.each(["ledger", "every-round"] as const)("Prompts of random histories (%s)", (preset) => {
  it("Have what is always shown, nothing that has ended and nothing twice, only grow, and can be replayed", async () => {
    const { replays } = await playHistories(db, preset, { atLeast: 6 });
    // Each of the turns was replayed byte for byte; at the end, where nothing of it was gone.
    expect(replays.turns).toBeGreaterThan(200);
    expect(replays.whole).toBeGreaterThan(replays.left / 5);
    expect(Object.keys(replays.gaps).filter((gap) => gap.startsWith("prompt"))).toEqual([]);
  });
});
