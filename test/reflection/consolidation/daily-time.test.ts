import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dailyTimes } from "../../../src/reflection/consolidation/daily-time.rule.js";
import { forAll } from "../../support/for-all.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = fc.integer({ min: 0, max: 4e12 });
const everyMs = fc.oneof(fc.constant(dayMs), fc.integer({ min: 1, max: 30 * dayMs }));
const scope = fc.oneof(
  fc.record({ tenantId: fc.string({ minLength: 1 }), userId: fc.string({ minLength: 1 }) }),
  fc.record({ userId: fc.string({ minLength: 1 }) }),
  fc.record({ appId: fc.string({ minLength: 1 }) }),
);

describe("daily work", () => {
  it("Daily work is first due within a day at the tenant's time, then a day later", () =>
    forAll(scope, now, (of, nowMs) => {
      const [first = 0] = dailyTimes([{ scope: of, doneAtMs: null }], dayMs, nowMs);
      expect(first).toBeGreaterThan(nowMs - 1);
      expect(first).toBeLessThanOrEqual(nowMs + dayMs + 1);
      const [second = 0] = dailyTimes([{ scope: of, doneAtMs: first }], dayMs, first);
      expect(Math.abs(second - first - dayMs)).toBeLessThan(1);
    }));

  it("Daily work is due again after its period, give or take half a day", () =>
    forAll(scope, now, everyMs, (of, doneAtMs, every) => {
      const [due = 0] = dailyTimes([{ scope: of, doneAtMs }], every, doneAtMs);
      const periodMs = Math.min(every, dayMs);
      expect(due).toBeGreaterThanOrEqual(doneAtMs + every - periodMs / 2 - 1);
      expect(due).toBeLessThanOrEqual(doneAtMs + every + 1);
    }));

  it("Daily work that is checked once a day at any hour is done once a day", () =>
    forAll(scope, now, (of, startMs) => {
      let doneAtMs = startMs;
      for (let day = 1; day <= 5; day++) {
        const [due = 0] = dailyTimes([{ scope: of, doneAtMs }], dayMs, doneAtMs);
        const lookMs = startMs + day * dayMs;
        expect(due).toBeLessThanOrEqual(lookMs + 1);
        doneAtMs = lookMs;
      }
    }));

  it("Daily work is spread over the day for many tenants and adjacent for one tenant's users", () => {
    const tenants = Array.from({ length: 2_400 }, (_, n) => ({
      tenantId: `tenant ${n}`,
      userId: "ana",
    }));
    const times = dailyTimes(
      tenants.map((of) => ({ scope: of, doneAtMs: null })),
      dayMs,
      0,
    );
    const perHour = Array.from({ length: 24 }, () => 0);
    for (const ms of times) {
      const hour = Math.floor(ms / hourMs) % 24;
      perHour[hour] = (perHour[hour] ?? 0) + 1;
    }
    expect(Math.min(...perHour)).toBeGreaterThan(60);
    expect(Math.max(...perHour)).toBeLessThan(140);
    const [one = 0, two = 0, three = 0] = dailyTimes(
      ["ana", "bo", "cy"].map((userId) => ({
        scope: { tenantId: "acme", userId },
        doneAtMs: null,
      })),
      dayMs,
      0,
    );
    expect([two - one, three - two]).toEqual([1_000, 1_000]);
  });
});
