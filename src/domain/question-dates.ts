const months = [
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

/** A date that a question names, as far as it names it. */
export interface NamedDate {
  readonly year: number | null;
  /** 1 to 12. */
  readonly month: number | null;
  readonly day: number | null;
}

const monthName = `(${months.map((month) => `${month.slice(0, 3)}(?:${month.slice(3)})?`).join("|")})\\.?`;
const dayNumber = "([0-3]?\\d)(?:st|nd|rd|th)?";
const yearNumber = "((?:19|20)\\d\\d)";
const patterns = [
  { pattern: `\\b${dayNumber}\\s+(?:of\\s+)?${monthName}(?:,?\\s+${yearNumber})?\\b`, order: "dmy" },
  { pattern: `\\b${monthName}\\s+${dayNumber}(?:,?\\s+${yearNumber})?\\b`, order: "mdy" },
  { pattern: `\\b${monthName}(?:,?\\s+${yearNumber})`, order: "my" },
  { pattern: `\\b(?:in|during|last|of|this|since|until)\\s+${monthName}\\b`, order: "m" },
  { pattern: `\\b${yearNumber}-(\\d\\d)-(\\d\\d)\\b`, order: "ynd" },
] as const;

/** The dates that `question` names in English or as ISO 8601, each as far as it goes. */
export function questionDates(question: string): NamedDate[] {
  return patterns.flatMap(({ pattern, order }) =>
    [...question.matchAll(new RegExp(pattern, "gi"))].map((match) => {
      const part = (letter: string) => match[order.indexOf(letter) + 1];
      const numeric = (letter: string) =>
        order.includes(letter) && part(letter) !== undefined ? Number(part(letter)) : null;
      const name = order.includes("m") ? part("m")?.slice(0, 3).toLowerCase() : undefined;
      const named = name === undefined ? null : months.findIndex((month) => month.startsWith(name)) + 1;
      return { year: numeric("y"), month: named ?? numeric("n"), day: numeric("d") };
    }),
  );
}

/** Whether `at` (UTC) fits `date` in every part that it names. */
export function fitsDate(at: Date, date: NamedDate): boolean {
  return (
    (date.year === null || at.getUTCFullYear() === date.year) &&
    (date.month === null || at.getUTCMonth() + 1 === date.month) &&
    // Said on the day or soon after: people tell of yesterday and of last weekend.
    (date.day === null || (at.getUTCDate() >= date.day && at.getUTCDate() - date.day <= 7))
  );
}
