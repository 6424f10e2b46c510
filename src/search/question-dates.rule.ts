/** In English, lower case, January first. */
const monthNames = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/** A date that a question names, as far as it names it; never a day without its month. */
export interface NamedDate {
  readonly year: number | null;
  /** 1 to 12. */
  readonly month: number | null;
  readonly day: number | null;
}

const monthName = `(${monthNames.map((month) => `${month.slice(0, 3)}(?:${month.slice(3)})?`).join("|")}|sept)\\.?`;
const dayNumber = "([0-3]?\\d)(?:st|nd|rd|th)?";
const yearNumber = "((?:19|20)\\d\\d)";
/** The most telling first: what one has matched is not looked at again. */
const patterns = [
  { pattern: `\\b${yearNumber}-(\\d\\d)-(\\d\\d)\\b`, order: "ynd" },
  { pattern: `\\b${dayNumber}\\s+(?:of\\s+)?${monthName}(?:,?\\s+${yearNumber})?\\b`, order: "dmy" },
  { pattern: `\\b${monthName}\\s+${dayNumber}(?!\\d)(?:,?\\s+${yearNumber})?\\b`, order: "mdy" },
  { pattern: `\\b${monthName}(?:\\s+of)?,?\\s+${yearNumber}\\b`, order: "my" },
  {
    pattern: `\\b(?:in|during|last|of|this|since|until|early|late|mid)\\s+${monthName}(?![a-z])`,
    order: "m",
  },
].map(({ pattern, order }) => ({ pattern: new RegExp(pattern, "gi"), order }));
/** Every date has a number or a month. */
const hasDate = new RegExp(`\\d|${monthNames.map((month) => month.slice(0, 3)).join("|")}`, "i");

/** The dates that `question` names in English or as ISO 8601, each as far as it goes. */
export function questionDates(question: string): NamedDate[] {
  let rest = question.slice(0, 10_000);
  const dates: NamedDate[] = [];
  if (!hasDate.test(rest)) return dates;
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
  return dates;
}

/** From its first moment to the one that is no longer part of it. */
export interface TimeSpan {
  readonly from: Date;
  readonly before: Date;
}

/** Dates of one question that are searched for: a text with more of them asks for no time. */
const mostSpans = 8;

/** The times that `dates` name, of those with a year: without one, a day is part of every year. */
export function namedSpans(dates: readonly NamedDate[]): TimeSpan[] {
  return dates
    .flatMap(({ year, month, day }) => (year === null ? [] : spanOf(year, month, day)))
    .slice(0, mostSpans);
}

/** Whether `at` (UTC) fits `date` in every part that it names; a day is also fitted by the week after it. */
export function fitsDate(at: Date, { year, month, day }: NamedDate): boolean {
  const years = year === null ? [at.getUTCFullYear(), at.getUTCFullYear() - 1] : [year];
  return years.some((of) => {
    const { from, before } = spanOf(of, month, day);
    return at >= from && at < before;
  });
}

/** People tell of yesterday and of last weekend. */
const toldWithinDays = 7;

function spanOf(year: number, month: number | null, day: number | null): TimeSpan {
  const midnight = (...date: [year: number, monthIndex: number, day?: number]) => new Date(Date.UTC(...date));
  if (month === null) return { from: midnight(year, 0), before: midnight(year + 1, 0) };
  if (day === null) return { from: midnight(year, month - 1), before: midnight(year, month) };
  return {
    from: midnight(year, month - 1, day),
    before: midnight(year, month - 1, day + toldWithinDays + 1),
  };
}

const asksWhen =
  /^\W*(?:(?:since |until )?when|how long(?: ago)?|how recently|(?:in |on )?(?:what|which) (?:date|day|week|month|season|year|time))\b/i;

const days = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
/** "May" is mostly the verb. */
const months = monthNames.filter((name) => name !== "may").join("|");
const spans = "day|night|morning|evening|week|weekend|month|season|spring|summer|autumn|fall|winter|year";
const tellsWhen = new RegExp(
  `\\b(?:yesterday|today|tonight|tomorrow|ago|recently|just|${days}|${months}|(?:last|next|this|past) (?:${spans}|${days})|(?:${spans})s|(?:19|20)\\d\\d)\\b`,
  "i",
);

/** Characters of a text that are looked at: a time that is said later is not what the text is about. */
const mostCharacters = 10_000;

/**
 * For `question` in English, whether a text says a time, as an answer to a question for one must; of no text when it
 * does not ask for a time.
 */
export function answersWhen(question: string): (text: string) => boolean {
  return asksWhen.test(question) ? (text) => tellsWhen.test(text.slice(0, mostCharacters)) : () => false;
}
