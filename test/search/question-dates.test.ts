import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { questionDates } from "../../src/search/question-dates.rule.js";
import { type NamedDate, namedSpans, nearnessInTime } from "../../src/search/time-span.rule.js";
import { processorMs } from "../support/timing.js";

/** A Wednesday. */
const now = new Date("2026-07-15T10:00:00Z");

const date = (year: number | null, month: number | null, day: number | null): NamedDate => ({
  year,
  month,
  day,
});

describe("questionDates", () => {
  it.each<[string, NamedDate[]]>([
    ["on the 5th of May, 2023?", [date(2023, 5, 5)]],
    ["on 2023-05-05?", [date(2023, 5, 5)]],
    ["on Sept. 21?", [date(null, 9, 21)]],
    ["on 3rd february", [date(null, 2, 3)]],
    ["in March of 2022?", [date(2022, 3, null)]],
    ["What did she do last June?", [date(null, 6, null)]],
    ["between 1 May 2023 and 2 June 2023", [date(2023, 5, 1), date(2023, 6, 2)]],
    ["May I ask what Mark may decorate?", []],
    ["in marching band", []],
    ["", []],
  ])("%s", (question, expected) => {
    expect(questionDates(question, now)).toEqual(expected);
  });

  it("finds every day in every way of writing it", () => {
    const format = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" });
    fc.assert(
      fc.property(
        fc.integer({ min: 1900, max: 2099 }),
        fc.nat(11),
        fc.integer({ min: 1, max: 28 }),
        (year, m, day) => {
          const name = format.format(Date.UTC(year, m));
          const pad = (part: number) => String(part).padStart(2, "0");
          const expected = [date(year, m + 1, day)];
          for (const written of [
            `${day} ${name} ${year}`,
            `${name} ${day}, ${year}`,
            `${day}th of ${name.slice(0, 3)} ${year}`,
            `${year}-${pad(m + 1)}-${pad(day)}`,
          ]) {
            expect(questionDates(`What was said on ${written}?`, now)).toEqual(expected);
          }
          const saidAt = new Date(Date.UTC(year, m, day, 18));
          expect(nearnessInTime(saidAt, namedSpans(expected, now))).toBe(1);
        },
      ),
    );
  });

  it("takes any string, and a long one soon", () => {
    fc.assert(fc.property(fc.string({ maxLength: 500 }), (question) => void questionDates(question, now)));
    const long = "1 ".repeat(50_000) + "may ".repeat(50_000);
    expect(processorMs(() => questionDates(long, now), 1_000)).toBeLessThan(1_000);
  });
});

describe("dates in figures and in other languages", () => {
  it.each<[string, NamedDate[]]>([
    ["Was ist am 25. Mai 2022 passiert?", [date(2022, 5, 25)]],
    ["Was war am 3. April 2022?", [date(2022, 4, 3)]],
    ["Was habe ich im März gesagt?", [date(null, 3, null)]],
    ["Was war am 25.5.2022?", [date(2022, 5, 25)]],
    ["Was war am 25.5.?", [date(null, 5, 25)]],
    ["Qu'ai-je dit le 3 mars 2021 ?", [date(2021, 3, 3)]],
    ["Qu'ai-je fait le 1er août ?", [date(null, 8, 1)]],
    ["Où étais-je en décembre 2020 ?", [date(2020, 12, null)]],
    ["¿Qué pasó el 5 de mayo de 2020?", [date(2020, 5, 5)]],
    ["¿Qué hice en septiembre?", [date(null, 9, null)]],
    ["O que eu disse em 7 de março de 2021?", [date(2021, 3, 7)]],
    ["Cosa ho fatto il 2 giugno 2021?", [date(2021, 6, 2)]],
    ["Wat deed ik op 3 maart 2021?", [date(2021, 3, 3)]],
    ["Co robiłem 5 maja 2022?", [date(2022, 5, 5)]],
    ["Co robiłem w maju?", [date(null, 5, null)]],
    ["Что я делал 5 мая 2022 года?", [date(2022, 5, 5)]],
    ["Где я был в январе 2021?", [date(2021, 1, null)]],
    ["5 Mayıs 2022'de ne oldu?", [date(2022, 5, 5)]],
    ["Ocakta ne yaptım?", [date(null, 1, null)]],
    ["Mi történt 2022. május 5-én?", [date(2022, 5, 5)]],
    ["ماذا حدث في ٥ مايو ٢٠٢٢؟", [date(2022, 5, 5)]],
    ["2022年5月25日我说了什么？", [date(2022, 5, 25)]],
    ["5月25日に何を言った？", [date(null, 5, 25)]],
    ["2022년 5월 25일에 뭐라고 했지?", [date(2022, 5, 25)]],
    ["What was on 05/25/2022?", [date(2022, 5, 25)]],
    ["What was on 3/4/2022?", [date(2022, 4, 3), date(2022, 3, 4)]],
    ["What was on 2022/05/25?", [date(2022, 5, 25)]],
    ["Što je bilo 3. listopada 2021.?", [date(2021, 10, 3), date(2021, 11, 3)]],
    ["Does Python 3.10.99 exist on 99.99.2022 or 1.2.3.4?", []],
    ["Is there life on Mars?", []],
    ["Wie groß ist der Mai-Baum?", []],
    ["I have 5 marks and 3 sets.", []],
    ["Who is Julia, and who is August?", []],
    ["Mon mari aime le mars.", []],
  ])("%s", (question, expected) => {
    expect(questionDates(question, now)).toEqual(expected);
  });
});

describe("times reckoned from now", () => {
  const span = (from: string, before: string) => [{ from: new Date(from), before: new Date(before) }];
  const yesterday = span("2026-07-14", "2026-07-15");
  const lastWeek = span("2026-07-05", "2026-07-13");
  const lastMonth = span("2026-06-01", "2026-07-01");

  it.each([
    ["What did I tell you yesterday?", yesterday],
    ["Remind me what we did last night", yesterday],
    ["Was habe ich gestern gesagt?", yesterday],
    ["Qu'est-ce que j'ai mangé hier ?", yesterday],
    ["¿Qué comí ayer?", yesterday],
    ["Что я говорил вчера?", yesterday],
    ["我昨天说了什么？", yesterday],
    ["昨日何を食べた？", yesterday],
    ["ماذا قلت أمس؟", yesterday],
    ["What did I do the day before yesterday?", span("2026-07-13", "2026-07-14")],
    ["Was war vorgestern?", span("2026-07-13", "2026-07-14")],
    ["What did I do two days ago?", span("2026-07-13", "2026-07-14")],
    ["Was war vor 2 Tagen?", span("2026-07-13", "2026-07-14")],
    ["2天前我说了什么？", span("2026-07-13", "2026-07-14")],
    ["What did we discuss last week?", lastWeek],
    ["Was habe ich letzte Woche erzählt?", lastWeek],
    ["De quoi avons-nous parlé la semaine dernière ?", lastWeek],
    ["上周我们聊了什么？", lastWeek],
    ["Where was I last month?", lastMonth],
    ["Gdzie byłem w zeszłym miesiącu?", lastMonth],
    ["Where did I live last year?", span("2025-01-01", "2026-01-01")],
    ["¿Dónde vivía el año pasado?", span("2025-01-01", "2026-01-01")],
    ["Who came last Monday?", span("2026-07-13", "2026-07-14")],
    ["Who came last Wednesday?", span("2026-07-08", "2026-07-09")],
    ["What did I say 2 weeks ago?", span("2026-06-27T22:00Z", "2026-07-04T22:00Z")],
    ["Hace dos semanas, ¿qué dije?", span("2026-06-27T22:00Z", "2026-07-04T22:00Z")],
  ])("%s", (question, expected) => {
    expect(questionDates(question, now)).toEqual(expected);
  });

  it.each([
    "I was sick yesterday.",
    "What should I cook today?",
    "Wohnt hier jemand?",
    "Wer ist hier?",
    "What is the last weekend train?",
    "How many years are there?",
    "What is 5 days long?",
  ])("%s names none", (question) => {
    expect(questionDates(question, now)).toEqual([]);
  });

  it("are before now, whenever that is, and of a length", () => {
    const asked = ["yesterday", "last week", "last month", "last year", "last friday", "three months ago"];
    const moment = fc.date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(moment, fc.constantFrom(...asked), (at, when) => {
        const [time] = questionDates(`What did I say ${when}?`, at);
        if (!time || !("from" in time)) throw new Error("no span");
        expect(time.from < time.before).toBe(true);
        expect(time.from < at && time.before.getTime() <= at.getTime() + 86_400_000).toBe(true);
      }),
    );
  });
});

describe("nearnessInTime", () => {
  const [day] = namedSpans([date(2023, 5, 5)], null);

  it.each([
    ["2023-05-05T00:00Z", 1],
    ["2023-05-05T23:59Z", 1],
    ["2023-05-08T00:00Z", 0.5],
    ["2023-05-04T12:00Z", 0.5],
    ["2023-05-02T23:59Z", 0],
    ["2023-05-13T00:01Z", 0],
    ["2024-05-05T09:00Z", 0],
  ])("at %s is %d for 5 May 2023", (at, nearness) => {
    expect(nearnessInTime(new Date(at), day ? [day] : [])).toBeCloseTo(nearness, 5);
  });

  it("is 0 where no time is named, and the best of several", () => {
    expect(nearnessInTime(now, [])).toBe(0);
    expect(nearnessInTime(now, namedSpans([date(2020, 1, 1), date(2026, 7, null)], null))).toBe(1);
    expect(nearnessInTime(new Date("2026-08-01"), namedSpans([date(2026, 7, null)], null))).toBe(0);
  });
});

describe("namedSpans", () => {
  it.each<[NamedDate, string, string]>([
    [date(2023, 5, 5), "2023-05-05", "2023-05-06"],
    [date(2023, 12, 28), "2023-12-28", "2023-12-29"],
    [date(2023, 12, null), "2023-12-01", "2024-01-01"],
    [date(2024, null, null), "2024-01-01", "2025-01-01"],
  ])("%j is from %s until %s", (named, from, before) => {
    expect(namedSpans([named], null)).toEqual([{ from: new Date(from), before: new Date(before) }]);
  });

  it("leaves out all but the first of many, and dates without a year where no time is known", () => {
    expect(namedSpans([date(null, 5, 5), date(null, 5, null)], null)).toEqual([]);
    expect(namedSpans(Array(50).fill(date(2023, 5, 5)), now)).toHaveLength(8);
  });

  it("has the last of a date without a year that has begun", () => {
    const from = (month: number, day: number | null) => namedSpans([date(null, month, day)], now)[0]?.from;
    expect(from(5, 5)).toEqual(new Date("2026-05-05"));
    expect(from(7, null)).toEqual(new Date("2026-07-01"));
    expect(from(7, 16)).toEqual(new Date("2025-07-16"));
    expect(from(12, null)).toEqual(new Date("2025-12-01"));
  });
});
