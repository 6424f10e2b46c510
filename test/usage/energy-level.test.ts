import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { energyLevel, pauseMs } from "../../src/usage/energy-level.rule.js";
import { energyOptionsSchema } from "../../src/usage/energy-options.js";

const budget = energyOptionsSchema.parse({ capacityUnits: 1_000 });
const hourMs = 3_600_000;

const budgets = fc
  .record({
    capacityUnits: fc.double({ min: 1, max: 1e12, noNaN: true }),
    lowBelow: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map((given) => ({ ...energyOptionsSchema.parse(given), capacityUnits: given.capacityUnits }));
const units = fc.double({ min: -1e13, max: 1e13, noNaN: true });
const elapsed = fc.double({ min: -1e12, max: 1e12, noNaN: true });

describe("the level of energy", () => {
  it("is full before anything was charged, and without a budget", () => {
    expect(energyLevel(null, budget)).toEqual({ level: 100, units: 1_000, capacity: 1_000, low: false });
    const off = { ...budget, capacityUnits: null };
    expect(energyLevel({ units: -5_000, elapsedMs: 0 }, off)).toMatchObject({ level: 100, low: false });
  });

  it("rises with time, to the capacity and no further", () => {
    const hours = (passed: number) => energyLevel({ units: -100, elapsedMs: passed * hourMs }, budget);
    expect(hours(0)).toEqual({ level: 0, units: -100, capacity: 1_000, low: true });
    expect(hours(0.2)).toMatchObject({ level: 0, units: 0, low: true });
    expect(hours(0.6)).toMatchObject({ level: 20, units: 200, low: false });
    expect(hours(10)).toMatchObject({ level: 100, units: 1_000, low: false });
  });

  it("is between 0 and 100, never above the capacity, and never falls as time goes on", () => {
    fc.assert(
      fc.property(budgets, units, elapsed, elapsed, (of, left, one, other) => {
        const [first, second] = [Math.min(one, other), Math.max(one, other)].map((elapsedMs) =>
          energyLevel({ units: left, elapsedMs }, of),
        );
        for (const found of [first!, second!]) {
          expect(found.level).toBeGreaterThanOrEqual(0);
          expect(found.level).toBeLessThanOrEqual(100);
          expect(found.units ?? 0).toBeLessThanOrEqual(of.capacityUnits);
        }
        expect(second!.units ?? 0).toBeGreaterThanOrEqual(first!.units ?? 0);
        expect(second!.level).toBeGreaterThanOrEqual(first!.level);
      }),
    );
  });
});

describe("work that can wait", () => {
  it("need not from the low mark on, and else waits until it is reached: a second to an hour", () => {
    const wait = (left: number) => pauseMs(energyLevel({ units: left, elapsedMs: 0 }, budget), budget);
    expect([1_000, 200].map(wait)).toEqual([null, null]);
    expect([199.999_9, 150, 100, -10_000].map(wait)).toEqual([1_000, hourMs / 10, hourMs / 5, hourMs]);
  });

  it("is taken up after that time where it was less than an hour", () => {
    fc.assert(
      fc.property(budgets, units, (of, left) => {
        const waitMs = pauseMs(energyLevel({ units: left, elapsedMs: 0 }, of), of);
        if (waitMs === null) return;
        expect(waitMs).toBeGreaterThanOrEqual(1_000);
        expect(waitMs).toBeLessThanOrEqual(hourMs);
        if (waitMs === hourMs) return;
        // A millisecond for what floats lose.
        expect(energyLevel({ units: left, elapsedMs: waitMs + 1 }, of).low).toBe(false);
      }),
    );
  });
});
