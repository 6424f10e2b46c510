import type { ParsedComponents } from "chrono-node";
import { normalValue } from "../text/normal-value.js";
import { headOf } from "../text/storable-text.js";
import { startOfDay, zoneClock } from "../text/time-zone.js";
import { dateReaders, readDates } from "./date-readers.rule.js";
import type { TimeSpan } from "./time-span.rule.js";

const maxCharacters = 1_000;
const maxSpans = 8;

/**
 * Days, weeks, months and years in `question`, at most eight. Without a year, the latest one that
 * has begun.
 */
export function questionDates(
  question: string,
  {
    language,
    now,
    timeZone,
  }: { readonly language: string; readonly now: Date; readonly timeZone: string },
): TimeSpan[] {
  const text = headOf(normalValue(headOf(question, maxCharacters)), maxCharacters);
  const clock = zoneClock(timeZone);
  const here = new Date(clock(now.getTime()));
  // Chrono reads dates by the clock of this process: this one shows the user's time.
  const reference = new Date(
    here.getUTCFullYear(),
    here.getUTCMonth(),
    here.getUTCDate(),
    here.getUTCHours(),
  );
  return readDates(text, dateReaders(language, text), reference)
    .flatMap(({ text: named, start, end }) => {
      const [from, before] = daysOf(start, named, here) ?? [];
      if (from === undefined || before === undefined) return [];
      const [, last = 0] = (end && daysOf(end, named, here)) ?? [];
      return { from: startOfDay(from, clock), before: startOfDay(Math.max(before, last), clock) };
    })
    .slice(0, maxSpans);
}

/** Midnights in milliseconds, as if in UTC. */
type Days = readonly [from: number, before: number];

/** Null for a time of day, and for the present. */
function daysOf(named: ParsedComponents, text: string, here: Date): Days | null {
  const unit = unitOf(named);
  const [year, month, day] = [
    named.get("year") ?? 0,
    (named.get("month") ?? 1) - 1,
    named.get("day") ?? 1,
  ];
  if (unit === null || year < 1000 || year > 9000) return null;
  // Short names of weekdays and months are also other words: "sat", "sun", "so", "mar".
  if (!named.isCertain("day") && /^\p{Script=Latin}{1,3}$/u.test(text)) return null;
  const days = spanOf(unit, year, month, day);
  const isBegun = days[0] <= here.getTime();
  // Messages say "today" about their own subject.
  if (isBegun && here.getTime() < days[1] && named.isCertain("day") && !/\p{N}/u.test(text))
    return null;
  if (isBegun || named.isCertain("year")) return days;
  return named.isCertain("month")
    ? spanOf(unit, year - 1, month, day)
    : spanOf(unit, year, month, day - 7);
}

type Unit = "day" | "week" | "month" | "year";

function unitOf(named: ParsedComponents): Unit | null {
  if (named.isCertain("weekday")) return "day";
  // For a week, Chrono gives the weekday that it counted from.
  if (named.isCertain("day")) return named.get("weekday") === null ? "day" : "week";
  return (["month", "year"] as const).find((unit) => named.isCertain(unit)) ?? null;
}

function spanOf(unit: Unit, year: number, month: number, day: number): Days {
  if (unit === "year") return [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  if (unit === "month") return [Date.UTC(year, month), Date.UTC(year, month + 1)];
  if (unit === "day") return [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)];
  const monday = day - ((new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7);
  // Weeks begin on Sunday in some countries.
  return [Date.UTC(year, month, monday - 1), Date.UTC(year, month, monday + 7)];
}
