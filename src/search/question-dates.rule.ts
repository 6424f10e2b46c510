import { relativeTimes } from "./relative-times.rule.js";
import type { NamedDate, NamedTime } from "./time-span.rule.js";
import { wordedDates } from "./worded-dates.rule.js";

const monthNames =
  "january february march april may june july august september october november december".split(" ");

const monthName = `(${monthNames.map((month) => `${month.slice(0, 3)}(?:${month.slice(3)})?`).join("|")}|sept)\\.?`;
const dayNumber = "([0-3]?\\d)(?:st|nd|rd|th|\\.(?=\\s))?";
const yearNumber = "((?:19|20)\\d\\d)";
const [begins, ends] = ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"];
/** The most specific first: what one matched is not read again. */
const patterns = [
  { pattern: `${begins}${yearNumber}-(\\d\\d)-(\\d\\d)${ends}`, order: "ynd" },
  {
    pattern: `${begins}${dayNumber}\\s+(?:of\\s+)?${monthName}(?:,?\\s+${yearNumber})?${ends}`,
    order: "dmy",
  },
  { pattern: `${begins}${monthName}\\s+${dayNumber}(?!\\d)(?:,?\\s+${yearNumber})?${ends}`, order: "mdy" },
  { pattern: `${begins}${monthName}(?:\\s+of)?,?\\s+${yearNumber}${ends}`, order: "my" },
  {
    pattern: `${begins}(?:in|during|last|of|this|since|until|early|late|mid)\\s+${monthName}${ends}`,
    order: "m",
  },
].map(({ pattern, order }) => ({ pattern: new RegExp(pattern, "giu"), order }));
/** Every date has a number or a month. */
const hasDate = new RegExp(`\\d|${monthNames.map((month) => month.slice(0, 3)).join("|")}`, "i");

/** The times that `question` names: dates, each as far as it goes, and those that it reckons from `now`. */
export function questionDates(question: string, now: Date): NamedTime[] {
  const { dates, rest } = englishDates(question.slice(0, 10_000));
  return [...dates, ...wordedDates(rest), ...relativeTimes(rest, now)];
}

function englishDates(question: string): { dates: NamedDate[]; rest: string } {
  let rest = question;
  const dates: NamedDate[] = [];
  if (!hasDate.test(rest)) return { dates, rest };
  for (const { pattern, order } of patterns) {
    rest = rest.replace(pattern, (...match: (string | undefined)[]) => {
      const part = (letter: string) =>
        order.includes(letter) ? match[order.indexOf(letter) + 1] : undefined;
      const numeric = (letter: string) => (part(letter) === undefined ? null : Number(part(letter)));
      const name = part("m")?.slice(0, 3).toLowerCase();
      const named = name === undefined ? null : monthNames.findIndex((month) => month.startsWith(name)) + 1;
      dates.push({ year: numeric("y"), month: named ?? numeric("n"), day: numeric("d") });
      return " ";
    });
  }
  return { dates, rest };
}
