import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summaryWindow } from "../../src/summaries/summary-window.rule.js";
import type { MessageRole } from "../../src/text/message-text.js";

const role = fc.constantFrom<MessageRole>("user", "assistant", "tool", "system", "other");
const roles = fc.array(role, { minLength: 1, maxLength: 60, size: "max" });
const windowMessages = fc.integer({ min: 2, max: 20 });

const startsOf = (sequence: readonly MessageRole[]) =>
  sequence.flatMap((each, seq) => (each === "user" ? [seq] : []));

/** Rounds of user and assistant only: users speak at even seqs. */
const plainStarts = (lastSeq: number) =>
  startsOf(Array.from({ length: lastSeq + 1 }, (_, seq) => (seq % 2 === 0 ? "user" : "assistant")));

describe("summaryWindow", () => {
  it("summaryWindow is as many whole pairs as fit when turns are plain pairs", () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), windowMessages, (round, size) => {
        const lastSeq = round * 2 + 1;
        const earliest = Math.max(0, lastSeq - size + 1);
        const aligned = earliest % 2 === 0 ? earliest : earliest + 1;
        expect(summaryWindow(lastSeq, size, plainStarts(lastSeq))).toEqual({
          startSeq: aligned,
          endSeq: lastSeq,
        });
      }),
    ));

  it("summaryWindow begins with a turn, and ends at the last message", () =>
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const { startSeq, endSeq } = summaryWindow(sequence.length - 1, size, starts);
        expect([0, ...starts]).toContain(startSeq);
        expect(endSeq).toBe(sequence.length - 1);
      }),
    ));

  it("summaryWindow is as long as its size allows; only a longer last turn exceeds it", () =>
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const lastSeq = sequence.length - 1;
        const { startSeq } = summaryWindow(lastSeq, size, starts);
        if (lastSeq - startSeq + 1 > size) expect(startSeq).toBe(starts.at(-1) ?? 0);
        expect(
          [0, ...starts].filter((start) => start < startSeq && lastSeq - start + 1 <= size),
        ).toEqual([]);
      }),
    ));

  it("summaryWindow never moves its start backwards as the conversation grows", () =>
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        let earlier = 0;
        for (let length = 1; length <= sequence.length; length++) {
          const { startSeq } = summaryWindow(length - 1, size, startsOf(sequence.slice(0, length)));
          expect(startSeq).toBeGreaterThanOrEqual(earlier);
          earlier = startSeq;
        }
      }),
    ));

  it("summaryWindow needs only the turn starts inside the window and the last one", () =>
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const lastSeq = sequence.length - 1;
        const few = starts.filter((start) => start > lastSeq - size || start === starts.at(-1));
        expect(summaryWindow(lastSeq, size, few)).toEqual(summaryWindow(lastSeq, size, starts));
      }),
    ));
});
