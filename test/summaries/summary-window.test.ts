import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageRole } from "../../src/messages/message-text.js";
import { summaryWindow } from "../../src/summaries/summary-window.rule.js";

const role = fc.constantFrom<MessageRole>("user", "assistant", "tool", "system", "other");
const roles = fc.array(role, { minLength: 1, maxLength: 60, size: "max" });
const windowMessages = fc.integer({ min: 2, max: 20 });

const startsOf = (sequence: readonly MessageRole[]) =>
  sequence.flatMap((each, seq) => (each === "user" ? [seq] : []));

describe("summaryWindow", () => {
  it("summaryWindow begins with a turn, and is as long as its size allows or as the last turn", () =>
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const lastSeq = sequence.length - 1;
        const { startSeq, endSeq } = summaryWindow(lastSeq, size, starts);
        expect([0, ...starts]).toContain(startSeq);
        expect(endSeq).toBe(lastSeq);
        if (lastSeq - startSeq + 1 > size) expect(startSeq).toBe(starts.at(-1) ?? 0);
        expect(
          [0, ...starts].filter((start) => start < startSeq && lastSeq - start + 1 <= size),
        ).toEqual([]);
      }),
    ));
});
