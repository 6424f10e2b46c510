import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effectiveConfidence, resolveSlot } from "../../src/domain/slot-conflict.js";

const since = new Date("2025-01-01");
const current = (confidence: number, turn: number) => ({ confidence, turn, validFrom: since });
const proposed = (
  confidence: number,
  turn: number,
  fields: { validFrom?: Date; correction?: boolean } = {},
) => ({
  ...{ confidence, turn, validFrom: null, correction: false },
  ...fields,
});

describe("two values of one slot", () => {
  it("end with the surest", () => {
    const alex = current(1, 5);
    expect(resolveSlot(alex, proposed(0.6, 50))).toBe("keep");
    expect(resolveSlot(alex, proposed(0.95, 80))).toBe("replace");
  });

  it("that are believed alike end with the newer one", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(1_000),
        fc.nat(1_000),
        (confidence, at, later) => {
          expect(resolveSlot(current(confidence, at), proposed(confidence, at + later))).toBe("replace");
        },
      ),
    );
  });

  it("end with the corrected one, whatever is believed and whenever it held", () => {
    expect(resolveSlot(current(1, 5), proposed(0, 6, { correction: true }))).toBe("replace");
    const earlier = new Date("2020-01-01");
    expect(resolveSlot(current(1, 5), proposed(0, 6, { correction: true, validFrom: earlier }))).toBe(
      "replace",
    );
  });

  it("of different times both stay in their time", () => {
    expect(resolveSlot(current(0.1, 5), proposed(1, 6, { validFrom: new Date("2024-12-31") }))).toBe(
      "insert_closed",
    );
    expect(resolveSlot(current(0.1, 5), proposed(1, 6, { validFrom: since }))).toBe("replace");
    expect(resolveSlot(current(1, 5), proposed(0.1, 6, { validFrom: new Date("2025-01-02") }))).toBe("keep");
  });
});

describe("a confidence", () => {
  it("halves every 500 turns", () => {
    expect(effectiveConfidence({ confidence: 0.8, turn: 100 }, 600)).toBeCloseTo(0.4);
    expect(effectiveConfidence({ confidence: 0.8, turn: 100 }, 1_100)).toBeCloseTo(0.2);
  });

  it("only ever fades, and not into the past", () => {
    const turn = fc.nat(10_000);
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        turn,
        turn,
        turn,
        (confidence, at, first, second) => {
          const [earlier, later] = [Math.min(first, second), Math.max(first, second)];
          const claim = { confidence, turn: at };
          expect(effectiveConfidence(claim, later)).toBeLessThanOrEqual(effectiveConfidence(claim, earlier));
          expect(effectiveConfidence(claim, later)).toBeLessThanOrEqual(confidence);
          expect(effectiveConfidence(claim, at)).toBe(confidence);
        },
      ),
    );
  });
});
