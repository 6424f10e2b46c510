import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryOrigins, trustOf } from "../../src/memories/item/memory.js";
import {
  conflictReason,
  effectiveConfidence,
  sourceRank,
  takesSlot,
} from "../../src/memories/slot/slot-timeline.rule.js";
import { forAll } from "../support/for-all.js";

const claim = (
  confidence: number,
  turn: number,
  fields: { rank?: number; correction?: boolean } = {},
) => ({
  confidence,
  turn,
  rank: 3,
  correction: false,
  ...fields,
});

describe("conflicts over a slot", () => {
  const confidence = fc.double({ min: 0, max: 1, noNaN: true });

  it("The newer of two values with equal confidence takes the slot", () =>
    forAll(confidence, fc.nat(1_000), fc.nat(1_000), (sure, at, later) => {
      expect(takesSlot(claim(sure, at), claim(sure, at + later))).toBe(true);
    }));

  it("The value of the higher rank takes the slot, regardless of confidence and correction", () =>
    forAll(confidence, confidence, fc.nat(9_999), fc.boolean(), (one, other, turn, correction) => {
      const [user, tool] = [claim(one, turn), claim(other, turn, { rank: 2, correction })];
      expect([takesSlot(user, tool), takesSlot(tool, { ...user, correction })]).toEqual([
        false,
        true,
      ]);
      expect(conflictReason(user, tool)).toBe("source");
    }));
});

describe("ranks of origins", () => {
  const rankOf = (origin: (typeof memoryOrigins)[number], trust = trustOf(origin)) =>
    sourceRank({ kind: "fact", origin, trust });

  it("The rank of an origin falls from operator to user, to given, to inferred or imported", () => {
    const expected = {
      operator: 4,
      user: 3,
      unknown: 2,
      tool: 2,
      document: 2,
      assistant: 1,
      worker: 1,
      import: 1,
    };
    expect(Object.fromEntries(memoryOrigins.map((origin) => [origin, rankOf(origin)]))).toEqual(
      expected,
    );
    expect(rankOf("user", "untrusted")).toBe(1);
    expect(rankOf("assistant", "user")).toBe(3);
    expect(sourceRank({ kind: "insight", origin: "unknown", trust: "untrusted" })).toBe(1);
  });
});

describe("confidences", () => {
  it("A confidence halves every 500 turns", () => {
    expect(effectiveConfidence({ confidence: 0.8, turn: 100 }, 600)).toBeCloseTo(0.4);
    expect(effectiveConfidence({ confidence: 0.8, turn: 100 }, 1_100)).toBeCloseTo(0.2);
  });

  it("A confidence only falls, and never for earlier turns", () => {
    const turn = fc.nat(10_000);
    forAll(
      fc.double({ min: 0, max: 1, noNaN: true }),
      turn,
      turn,
      turn,
      (confidence, at, first, second) => {
        const [earlier, later] = [Math.min(first, second), Math.max(first, second)];
        const said = { confidence, turn: at };
        expect(effectiveConfidence(said, later)).toBeLessThanOrEqual(
          effectiveConfidence(said, earlier),
        );
        expect(effectiveConfidence(said, later)).toBeLessThanOrEqual(confidence);
        expect(effectiveConfidence(said, at)).toBe(confidence);
      },
    );
  });
});
