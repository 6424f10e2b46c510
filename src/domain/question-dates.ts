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

/** A date that a question names, as far as it names it; never a day without its month. */
export interface NamedDate {
  readonly year: number | null;
  /** 1 to 12. */
  readonly month: number | null;
  readonly day: number | null;
}

const monthName = `(${months.map((month) => `${month.slice(0, 3)}(?:${month.slice(3)})?`).join("|")}|sept)\\.?`;
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
] as const;

/** The dates that `question` names in English or as ISO 8601, each as far as it goes. */
export function questionDates(question: string): NamedDate[] {
  let rest = question.slice(0, 10_000);
  const dates: NamedDate[] = [];
  for (const { pattern, order } of patterns) {
    rest = rest.replace(new RegExp(pattern, "gi"), (...match: (string | undefined)[]) => {
      const part = (letter: string) =>
        order.includes(letter) ? match[order.indexOf(letter) + 1] : undefined;
      const numeric = (letter: string) => (part(letter) === undefined ? null : Number(part(letter)));
      const name = part("m")?.slice(0, 3).toLowerCase();
      const named = name === undefined ? null : months.findIndex((month) => month.startsWith(name)) + 1;
      dates.push({ year: numeric("y"), month: named ?? numeric("n"), day: numeric("d") });
      return " ";
    });
  }
  return dates;
}

const dayMs = 86_400_000;
/** People tell of yesterday and of last weekend. */
const toldWithinDays = 7;

/** Whether `at` (UTC) fits `date` in every part that it names; a day is also fitted by the week after it. */
export function fitsDate(at: Date, { year, month, day }: NamedDate): boolean {
  if (day === null || month === null) {
    return (
      (year === null || at.getUTCFullYear() === year) && (month === null || at.getUTCMonth() + 1 === month)
    );
  }
  const years = year === null ? [at.getUTCFullYear(), at.getUTCFullYear() - 1] : [year];
  return years.some((of) => {
    const days = (at.getTime() - Date.UTC(of, month - 1, day)) / dayMs;
    return days >= 0 && days < toldWithinDays + 1;
  });
}
