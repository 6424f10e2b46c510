import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DateReader, dateReaders, readDates } from "../../src/search/date-readers.rule.js";
import { questionDates } from "../../src/search/question-dates.rule.js";
import { dateLanguages, dateWords } from "../support/date-words.js";
import { forAll } from "../support/for-all.js";
import { processorMs } from "../support/timing.js";

const now = new Date("2026-07-15T10:00:00Z");
const read = (question: string, language: string) =>
  questionDates(question, { language, now, timeZone: "UTC" });
const days = (question: string, language: string) =>
  read(question, language).map(({ from }) => from.toISOString().slice(0, 10));

describe("Dates in a question", () => {
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
    "Dates in %s of any two words over and over take less than 50 ms",
    (language) => {
      const word = fc.constantFrom(...dateWords(language));
      forAll(word, word, fc.constantFrom("", " "), fc.nat(10_000), (one, other, gap, length) => {
        const part = one + gap + other + gap;
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
    expect(days(question, language)).toEqual(expected),
  );

  it("A date is read whole wherever it is in a long question", () => {
    const dates = ["5 May 2020", "the twenty-fifth of September, 2020", "from 5 to 7 March 2024"];
    for (const date of dates)
      for (let before = 0; before < 130; before++) {
        const question = `${"so it was. ".repeat(20).slice(0, before)} ${date} ${"or not. ".repeat(20)}`;
        expect(days(question, "english"), question).toEqual(days(date, "english"));
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
});
