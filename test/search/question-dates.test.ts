import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DateReader,
  dateReaders,
  questionDates,
  readDates,
  type TimeSpan,
} from "../../src/search/question-dates.rule.js";
import { startOfDay, zoneClock } from "../../src/text/time-zone.js";
import { dateLanguages, dateWords } from "../support/date-words.js";
import { forAll } from "../support/for-all.js";
import { processorMs } from "../support/timing.js";

/** A Wednesday. */
const now = new Date("2026-07-15T10:00:00Z");
const read = (question: string, language = "english", timeZone = "UTC", at = now) =>
  questionDates(question, { language, now: at, timeZone });
const days = ({ from, before }: TimeSpan) =>
  `${from.toISOString().slice(0, 10)} ${before.toISOString().slice(0, 10)}`;
const firstDays = (question: string, language?: string) =>
  read(question, language).map((span) => days(span).slice(0, 10));

const yesterday = "2026-07-14 2026-07-15";
const twoDaysAgo = "2026-07-13 2026-07-14";
const lastWeek = "2026-07-05 2026-07-13";
const lastMonth = "2026-06-01 2026-07-01";
const lastYear = "2025-01-01 2026-01-01";
const fifthOfMay = "2020-05-05 2020-05-06";

describe("questionDates", () => {
  it.each<[string, string, ...string[]]>([
    ["english", "What did I tell you yesterday?", yesterday],
    ["english", "Remind me what we did last night", yesterday],
    ["english", "I was sick yesterday.", yesterday],
    ["english", "What did I do two days ago?", twoDaysAgo],
    ["english", "What did we discuss last week?", lastWeek],
    ["english", "What did I say 2 weeks ago?", "2026-06-28 2026-07-06"],
    ["english", "Where was I last month?", lastMonth],
    ["english", "Where was I three months ago?", "2026-04-01 2026-05-01"],
    ["english", "Where did I live last year?", lastYear],
    ["english", "Who came last Monday?", twoDaysAgo],
    ["english", "Who came on Friday?", "2026-07-10 2026-07-11"],
    ["english", "Who comes tomorrow?", "2026-07-16 2026-07-17"],
    ["english", "on the 5th of May, 2020?", fifthOfMay],
    ["english", "on 2020-05-05? 05/05/2020? 5.5.2020?", fifthOfMay, fifthOfMay, fifthOfMay],
    ["english", "on ٥ May ٢٠٢٠?", fifthOfMay],
    ["english", "from 5 to 7 March 2024", "2024-03-05 2024-03-08"],
    ["english", "in March of 2022?", "2022-03-01 2022-04-01"],
    [
      "english",
      "between 1 May 2023 and 2 June 2023",
      "2023-05-01 2023-05-02",
      "2023-06-02 2023-06-03",
    ],
    ["english", "on July 15?", "2026-07-15 2026-07-16"],
    ["english", "on July 16?", "2025-07-16 2025-07-17"],
    ["english", "in July? in September?", "2026-07-01 2026-08-01", "2025-09-01 2025-10-01"],
    ["german", "Was habe ich gestern gesagt?", yesterday],
    ["german", "Was war vor 2 Tagen?", twoDaysAgo],
    ["german", "Was habe ich letzte Woche erzählt?", lastWeek],
    ["german", "Was war letzten Monat, und letztes Jahr?", lastMonth, lastYear],
    ["german", "Was war am 5. Mai 2020, am 5.5.2020?", fifthOfMay, fifthOfMay],
    ["french", "Qu'est-ce que j'ai mangé hier ?", yesterday],
    ["french", "De quoi avons-nous parlé la semaine dernière ?", lastWeek],
    ["french", "Qu'ai-je dit le 5 mai 2020 ?", fifthOfMay],
    ["portuguese", "O que eu disse ontem?", yesterday],
    ["portuguese", "O que eu disse em 5 de maio de 2020?", fifthOfMay],
    ["spanish", "¿Qué comí ayer?", yesterday],
    ["spanish", "¿Qué pasó el 5 de mayo de 2020?", fifthOfMay],
    ["russian", "Что я говорил на прошлой неделе, в январе?", lastWeek, "2026-01-01 2026-02-01"],
    ["english", "昨日何を食べた？2020年5月5日？", yesterday, fifthOfMay],
    ["simple", "我昨天说了什么？", yesterday],
    ["turkish", "5 May 2020", fifthOfMay],
  ])("questionDates reads the dates of a question in %s: %s", (language, question, ...expected) =>
    expect(read(question, language).map(days)).toEqual(expected),
  );

  it.each([
    ["english", "What should I cook today, and now, at 5pm?"],
    ["english", "May I ask what Mark may decorate in a marching band?"],
    ["english", "Who sat in the sun?"],
    ["english", "I have 5 marks and 3 sets. What is 5 days long? How many years are there?"],
    [
      "english",
      "Does Python 3.10.99 exist on 99.99.2022 or 1.2.3.4, in room 2022, on 30 Feb 2022?",
    ],
    ["english", "What lived 3 million years ago?"],
    ["german", "So war es. Wohnt hier jemand?"],
    ["french", "Mon mari aime le mars."],
    ["english", ""],
  ])("questionDates reads no date of a question in %s: %s", (language, question) =>
    expect(read(question, language)).toEqual([]),
  );

  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Pacific/Apia",
    "Africa/Cairo",
    "Asia/Kathmandu",
  ];

  it.each(zones)(
    "questionDates reads each day of a year with its exact bounds in %s",
    (timeZone) => {
      const clock = zoneClock(timeZone);
      const written = { english: "en", german: "de", french: "fr", simple: "ja" };
      // Apia has had no 30 December 2011.
      for (let day = Date.UTC(2011, 0, 1); day < Date.UTC(2011, 11, 29); day += 86_400_000) {
        const [span, ...others] = Object.entries(written).flatMap(([language, locale]) => {
          const format = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
          return read(`(${format.format(day)})`, language, timeZone);
        });
        const { from, before } = span as TimeSpan;
        expect(others).toEqual([span, span, span]);
        expect([clock(from.getTime()), clock(from.getTime() - 1)].map((at) => at >= day)).toEqual([
          true,
          false,
        ]);
        const end = clock(before.getTime() - 1);
        expect(end >= day && end < day + 86_400_000).toBe(true);
        expect(before).toEqual(startOfDay(day + 86_400_000, clock));
      }
    },
  );

  it.each([
    ["Europe/Berlin", "2026-03-30T08:00Z", "2026-03-28T23:00Z", "2026-03-29T22:00Z"],
    ["Europe/Berlin", "2026-10-26T08:00Z", "2026-10-24T22:00Z", "2026-10-25T23:00Z"],
    ["Asia/Tokyo", "2026-07-15T16:00Z", "2026-07-14T15:00Z", "2026-07-15T15:00Z"],
    ["America/Los_Angeles", "2026-07-15T03:00Z", "2026-07-13T07:00Z", "2026-07-14T07:00Z"],
    // Its clocks go from midnight to 1:00 on 24 April 2026.
    ["Africa/Cairo", "2026-04-25T08:00Z", "2026-04-23T22:00Z", "2026-04-24T21:00Z"],
  ])("questionDates reads yesterday in %s at %s", (timeZone, at, from, before) => {
    const expected = [{ from: new Date(from), before: new Date(before) }];
    expect(read("What did I say yesterday?", "english", timeZone, new Date(at))).toEqual(expected);
  });

  it("questionDates accepts any string at any time", () => {
    const languages = ["english", "german", "french", "italian", "russian"];
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
    );
    const at = fc.date({
      min: new Date("1990-01-01"),
      max: new Date("2090-01-01"),
      noInvalidDate: true,
    });
    const words = fc.array(
      fc.constantFrom(..."last 99999 years ago in may 1 / - . 昨日 monday".split(" ")),
    );
    const question = fc.oneof(
      text,
      words.map((some) => some.join(" ")),
    );
    forAll(question, at, fc.constantFrom(...languages), (asked, time, language) => {
      for (const { from, before } of read(asked, language, "Europe/Berlin", time))
        expect(from < before).toBe(true);
    });
  });

  it("questionDates reads at most eight dates, in the first 1,000 characters", () => {
    expect(read("on 5 May 2020, ".repeat(50))).toHaveLength(8);
    expect(read(`${"so ".repeat(320)}on 5 May 2020?`)).toHaveLength(1);
    expect(read(`${"so ".repeat(340)}on 5 May 2020?`)).toEqual([]);
  });
});

// Each took from 0.1 seconds to longer than anybody waited.
it.each([
  ["arabic", "يوم "],
  ["russian", "неделя "],
  ["ukrainian", "тиждень "],
  ["italian", "h un "],
  ["dutch", "2 u "],
  ["finnish", "1 s "],
  ["indonesian", "1jam "],
  ["vietnamese", "2giờ "],
  ["english", "3s 3s couple s couple s "],
  ["english", "四"],
])("Dates in %s of 10,000 characters of %j take less than 50 ms", (language, words) => {
  const question = words.repeat(10_000 / words.length);
  expect(processorMs(() => read(question, language), 50)).toBeLessThan(50);
});

it.each(dateLanguages)(
  "Dates in %s of any words over and over take less than 50 ms",
  (language) => {
    const word = fc.tuple(fc.constantFrom(...dateWords(language)), fc.constantFrom("", " ", "  "));
    const words = fc.array(word, { minLength: 1, maxLength: 6 });
    forAll(words, fc.nat(10_000), (chosen, length) => {
      const part = chosen.flat().join("");
      const question = part.repeat(length / part.length + 1).slice(0, length);
      expect(processorMs(() => read(question, language), 50)).toBeLessThan(50);
    });
  },
);

it.each<[string, string, ...string[]]>([
  ["arabic", "ماذا قلت أمس، وفي 5 مايو 2020؟", "2026-07-14", "2020-05-05"],
  ["dutch", "Wat zei ik gisteren, en op 5 mei 2020?", "2026-07-14", "2020-05-05"],
  ["finnish", "Mitä sanoin eilen, ja 5. toukokuuta 2020?", "2026-07-14", "2020-05-05"],
  ["italian", "Che cosa ho detto ieri, e il 5 maggio 2020?", "2026-07-14", "2020-05-05"],
  [
    "russian",
    "Что я говорил вчера, два дня назад, 05.05.2020?",
    "2026-07-14",
    "2026-07-13",
    "2020-05-05",
  ],
  ["ukrainian", "Що я казав вчора, і 5 травня 2020?", "2026-07-14", "2020-05-05"],
  ["english", "one year and two months ago?", "2025-05-01"],
])("Dates in %s are read: %s", (language, question, ...expected) =>
  expect(firstDays(question, language)).toEqual(expected),
);

it("A date is read whole wherever it is in a long question", () => {
  const dates = ["5 May 2020", "the twenty-fifth of September, 2020", "from 5 to 7 March 2024"];
  for (const date of dates)
    for (let before = 0; before < 130; before++) {
      const question = `${"so it was. ".repeat(20).slice(0, before)} ${date} ${"or not. ".repeat(20)}`;
      expect(firstDays(question), question).toEqual(firstDays(date));
    }
});

it("A reader that needs 20 ms for each piece gets few of them, and none is long", () => {
  const pieces: string[] = [];
  const slow: DateReader = (piece) => {
    pieces.push(piece);
    const startedAt = process.cpuUsage().user;
    while (process.cpuUsage().user - startedAt < 20_000);
    return [];
  };
  readDates("word ".repeat(200), [slow], now);
  expect(pieces.length).toBeLessThanOrEqual(2);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(60);
  expect(dateReaders("english", "word")).toHaveLength(1);
});
