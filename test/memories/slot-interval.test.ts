import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freeSince, type ValidityInterval } from "../../src/memories/slot/slot-timeline.rule.js";
import { forAll } from "../support/for-all.js";

const day = (number: number) => new Date(Date.UTC(2020, 0, 1 + number)).toISOString();
const time = fc.integer({ min: 0, max: 30 });
const closed = fc
  .tuple(time, time)
  .map(([from, to]): ValidityInterval => ({ from: day(from), to: day(to) }));
const ms = (value: string | null) =>
  value === null ? Number.POSITIVE_INFINITY : Date.parse(value);
const overlap = (one: ValidityInterval, other: ValidityInterval) =>
  Math.max(ms(one.from), ms(other.from)) < Math.min(ms(one.to), ms(other.to));

describe("times of a slot's values", () => {
  it("A value that takes its slot again begins after the last overlapping one, or unchanged", () =>
    forAll(time, fc.array(closed), (from, others) => {
      const since = freeSince(day(from), others);
      expect(ms(since)).toBeGreaterThanOrEqual(ms(day(from)));
      for (const other of others) expect(overlap({ from: since, to: null }, other)).toBe(false);
      if (!others.some((other) => overlap({ from: day(from), to: null }, other)))
        expect(since).toBe(day(from));
    }));

  it("The times of a slot's values are compared to the microsecond across time zones", () => {
    const others = [{ from: "2020-01-01T00:00:00Z", to: "2020-01-02T01:00:00.000002+01:00" }];
    expect(freeSince("2020-01-02T00:00:00.000001Z", others)).toBe(others[0]?.to);
    expect(freeSince("2020-01-02T00:00:00.000002Z", others)).toBe("2020-01-02T00:00:00.000002Z");
  });
});
