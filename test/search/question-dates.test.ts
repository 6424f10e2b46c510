import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsDate, type NamedDate, namedSpans, questionDates } from "../../src/search/question-dates.rule.js";
import { processorMs } from "../support/timing.js";

const date = (year: number | null, month: number | null, day: number | null): NamedDate => ({
  year,
  month,
  day,
});

describe("questionDates", () => {
  it.each<[string, NamedDate[]]>([
    ["What happened on 5 May 2023?", [date(2023, 5, 5)]],
    ["on the 5th of May, 2023?", [date(2023, 5, 5)]],
    ["on May 5th, 2023?", [date(2023, 5, 5)]],
    ["on 2023-05-05?", [date(2023, 5, 5)]],
    ["on Sept. 21?", [date(null, 9, 21)]],
    ["on 3rd february", [date(null, 2, 3)]],
    ["in March 2022?", [date(2022, 3, null)]],
    ["in March of 2022?", [date(2022, 3, null)]],
    ["What did she do last June?", [date(null, 6, null)]],
    ["between 1 May 2023 and 2 June 2023", [date(2023, 5, 1), date(2023, 6, 2)]],
    ["May I ask what Mark may decorate?", []],
    ["in marching band", []],
    ["How many people came?", []],
    ["", []],
  ])("%s", (question, expected) => {
    expect(questionDates(question)).toEqual(expected);
  });

  it("finds every day in every way of writing it", () => {
    const names = ["January", "February", "March", "April", "May", "June", "July"].concat([
      "August",
      "September",
      "October",
      "November",
      "December",
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1900, max: 2099 }),
        fc.nat(11),
        fc.integer({ min: 1, max: 28 }),
        (year, m, day) => {
          const name = names[m] as string;
          const pad = (part: number) => String(part).padStart(2, "0");
          const expected = [date(year, m + 1, day)];
          for (const written of [
            `${day} ${name} ${year}`,
            `${name} ${day}, ${year}`,
            `${day}th of ${name.slice(0, 3)} ${year}`,
            `${year}-${pad(m + 1)}-${pad(day)}`,
          ]) {
            expect(questionDates(`What was said on ${written}?`)).toEqual(expected);
          }
          const saidAt = new Date(Date.UTC(year, m, day, 18));
          expect(fitsDate(saidAt, expected[0] as NamedDate)).toBe(true);
        },
      ),
    );
  });

  it("takes any string, and a long one soon", () => {
    fc.assert(fc.property(fc.string({ maxLength: 500 }), (question) => void questionDates(question)));
    const long = "1 ".repeat(50_000) + "may ".repeat(50_000);
    expect(processorMs(() => questionDates(long), 1_000)).toBeLessThan(1_000);
  });
});

describe("fitsDate", () => {
  it.each<[string, NamedDate, boolean]>([
    ["2023-05-05T09:00Z", date(2023, 5, 5), true],
    ["2023-05-04T23:59Z", date(2023, 5, 5), false],
    ["2023-05-12T23:00Z", date(2023, 5, 5), true],
    ["2023-05-13T00:00Z", date(2023, 5, 5), false],
    ["2024-05-05T09:00Z", date(2023, 5, 5), false],
    ["2024-05-05T09:00Z", date(null, 5, 5), true],
    // The week after a day goes on in the next month and year.
    ["2023-02-02T09:00Z", date(2023, 1, 30), true],
    ["2024-01-02T09:00Z", date(null, 12, 30), true],
    ["2023-05-31T23:59Z", date(2023, 5, null), true],
    ["2023-06-01T00:00Z", date(2023, 5, null), false],
    ["2019-05-20T00:00Z", date(null, 5, null), true],
  ])("%s in %j: %s", (at, named, fits) => {
    expect(fitsDate(new Date(at), named)).toBe(fits);
  });
});

describe("namedSpans", () => {
  it.each<[NamedDate, string, string]>([
    [date(2023, 5, 5), "2023-05-05", "2023-05-13"],
    [date(2023, 12, 28), "2023-12-28", "2024-01-05"],
    [date(2023, 12, null), "2023-12-01", "2024-01-01"],
    [date(2024, null, null), "2024-01-01", "2025-01-01"],
  ])("%j is from %s until %s", (named, from, before) => {
    expect(namedSpans([named])).toEqual([{ from: new Date(from), before: new Date(before) }]);
  });

  it("leaves out dates without a year, and all but the first of many", () => {
    expect(namedSpans([date(null, 5, 5), date(null, 5, null)])).toEqual([]);
    expect(namedSpans(Array(50).fill(date(2023, 5, 5)))).toHaveLength(8);
  });

  it("is what fits its date", () => {
    const parts = fc.tuple(
      fc.integer({ min: 1990, max: 2090 }),
      fc.option(fc.integer({ min: 1, max: 12 })),
      fc.option(fc.integer({ min: 1, max: 31 })),
    );
    const moment = fc.date({ min: new Date("1990-01-01"), max: new Date("2091-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(parts, moment, ([year, month, day], at) => {
        const named = date(year, month, day);
        const [span] = namedSpans([named]);
        expect(fitsDate(at, named)).toBe(span !== undefined && at >= span.from && at < span.before);
      }),
    );
  });
});
