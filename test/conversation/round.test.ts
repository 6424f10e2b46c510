import { describe, expect, it } from "vitest";
import { roundStarts } from "../../src/conversation/conversation-context.rule.js";

describe("roundStarts", () => {
  it("is the seq of every user message, in order", () => {
    const roles = ["system", "user", "assistant", "tool", "assistant", "user", "user", "assistant"] as const;
    expect(roundStarts(roles.map((role, seq) => ({ seq, role })))).toEqual([1, 5, 6]);
  });

  it("keeps the seqs of a transcript's tail", () => {
    expect(
      roundStarts([
        { seq: 40, role: "tool" },
        { seq: 41, role: "user" },
      ]),
    ).toEqual([41]);
  });

  it("is empty without a user message", () => {
    expect(roundStarts([])).toEqual([]);
    expect(roundStarts([{ seq: 0, role: "assistant" }])).toEqual([]);
  });
});
