import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summaryWindow } from "../../src/summaries/summary-window.rule.js";
import type { MessageRole } from "../../src/text/message-text.js";

const role = fc.constantFrom<MessageRole>("user", "assistant", "tool", "system", "other");
const roles = fc.array(role, { minLength: 1, maxLength: 60, size: "max" });
const windowMessages = fc.integer({ min: 2, max: 20 });

const startsOf = (sequence: readonly MessageRole[]) => sequence.flatMap((each, seq) => (each === "user" ? [seq] : []));

/** Rounds of user and assistant only: users speak at even seqs. */
const plainStarts = (lastSeq: number) =>
  startsOf(Array.from({ length: lastSeq + 1 }, (_, seq) => (seq % 2 === 0 ? "user" : "assistant")));

describe("summaryWindow", () => {
  it.each([
    [5, 0, 5],
    [7, 0, 7],
    [9, 0, 9],
    [11, 0, 11],
    [13, 0, 13],
    [15, 2, 15],
    [17, 4, 17],
    [19, 6, 19],
  ])("begins with a round, 14 messages at most: after seq %i (%i, %i)", (lastSeq, startSeq, endSeq) => {
    expect(summaryWindow(lastSeq, 14, plainStarts(lastSeq))).toEqual({ startSeq, endSeq });
  });

  it("is the last 14 messages from an even seq wherever turns are plain pairs", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), windowMessages, (round, size) => {
        const lastSeq = round * 2 + 1;
        const earliest = Math.max(0, lastSeq - size + 1);
        const aligned = earliest % 2 === 0 ? earliest : earliest + 1;
        expect(summaryWindow(lastSeq, size, plainStarts(lastSeq))).toEqual({ startSeq: aligned, endSeq: lastSeq });
      }),
    );
  });

  it("never cuts a round, and ends at the last message", () => {
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const { startSeq, endSeq } = summaryWindow(sequence.length - 1, size, starts);
        expect([0, ...starts]).toContain(startSeq);
        expect(endSeq).toBe(sequence.length - 1);
      }),
    );
  });

  it("is as long as its size allows; only the last turn may be longer than that", () => {
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const lastSeq = sequence.length - 1;
        const { startSeq } = summaryWindow(lastSeq, size, starts);
        if (lastSeq - startSeq + 1 > size) expect(startSeq).toBe(starts.at(-1) ?? 0);
        const wider = [0, ...starts].filter((start) => start < startSeq && lastSeq - start + 1 <= size);
        expect(wider).toEqual([]);
      }),
    );
  });

  it("never moves its start backwards as the conversation grows", () => {
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        let earlier = 0;
        for (let length = 1; length <= sequence.length; length++) {
          const { startSeq } = summaryWindow(length - 1, size, startsOf(sequence.slice(0, length)));
          expect(startSeq).toBeGreaterThanOrEqual(earlier);
          earlier = startSeq;
        }
      }),
    );
  });

  it("needs only the turn starts inside the window and the last one", () => {
    fc.assert(
      fc.property(roles, windowMessages, (sequence, size) => {
        const starts = startsOf(sequence);
        const lastSeq = sequence.length - 1;
        const few = starts.filter((start) => start > lastSeq - size || start === starts.at(-1));
        expect(summaryWindow(lastSeq, size, few)).toEqual(summaryWindow(lastSeq, size, starts));
      }),
    );
  });
});

/** One round: a user message, then steps of parallel tool calls of which some may never get a result. */
const toolTurn = fc
  .array(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), { maxLength: 3 })
  .map((steps) => ({ steps }));

type Entry = { role: MessageRole; calls: string[]; answers?: string };

function transcriptOf(rounds: readonly { steps: readonly (readonly boolean[])[] }[]): Entry[] {
  return rounds.flatMap(({ steps }, round) => [
    { role: "user" as const, calls: [] },
    ...steps.flatMap((results, step) => {
      const ids = results.map((_, call) => `${round}.${step}.${call}`);
      const answered = ids.filter((_, call) => results[call]);
      return [
        { role: "assistant" as const, calls: ids },
        ...answered.map((id) => ({ role: "tool" as const, calls: [], answers: id })),
      ];
    }),
    { role: "assistant" as const, calls: [] },
  ]);
}

describe("summaryWindow with tool calls", () => {
  it("never parts a call from its results, wherever the window begins, with parallel calls and missing results", () => {
    fc.assert(
      fc.property(fc.array(toolTurn, { minLength: 1, maxLength: 6, size: "max" }), windowMessages, (rounds, size) => {
        const transcript = transcriptOf(rounds);
        const starts = startsOf(transcript.map((entry) => entry.role));
        for (let length = 1; length <= transcript.length; length++) {
          const seen = starts.filter((start) => start < length);
          const { startSeq } = summaryWindow(length - 1, size, seen);
          const kept = transcript.slice(startSeq);
          const calls = new Set(kept.flatMap((entry) => entry.calls));
          const orphans = kept.filter((entry) => entry.answers !== undefined && !calls.has(entry.answers));
          expect(orphans).toEqual([]);
        }
      }),
    );
  });

  it("keeps the last turn whole when it alone is longer than the window", () => {
    const sequence: MessageRole[] = ["user", "assistant", "user", ...Array<MessageRole>(20).fill("tool")];
    expect(summaryWindow(sequence.length - 1, 14, startsOf(sequence))).toEqual({ startSeq: 2, endSeq: 22 });
  });

  it("begins at 0 when nobody has asked anything yet", () => {
    expect(summaryWindow(30, 14, [])).toEqual({ startSeq: 0, endSeq: 30 });
  });
});
