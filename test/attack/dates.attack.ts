import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { questionDates } from "../../src/search/question-dates.rule.js";
import { dateLanguages, dateWords } from "../support/date-words.js";
import { processorMs } from "../support/timing.js";

const now = new Date("2026-07-15T10:00:00Z");

describe("a question of date words", () => {
  it.each(dateLanguages)(
    "A question in %s of any words over and over takes less than 50 ms",
    (language) => {
      const words = fc.array(
        fc.tuple(fc.constantFrom(...dateWords(language)), fc.constantFrom("", " ", " ", "  ")),
        { minLength: 1, maxLength: 6 },
      );
      const takesLittle = fc.property(words, fc.nat(10_000), (chosen, length) => {
        const part = chosen.flat().join("");
        const question = part.repeat(length / part.length + 1).slice(0, length);
        const read = () => questionDates(question, { language, now, timeZone: "UTC" });
        expect(processorMs(read, 50)).toBeLessThan(50);
      });
      fc.assert(takesLittle, { numRuns: 2_000 });
    },
  );
});
