import { z } from "zod";
import { dayMs, isoDay } from "../clock.js";
import { clipped } from "./storable-text.js";

/** Milliseconds since 1970 on the clock of a time zone, as if that clock showed UTC. */
export type ZoneClock = (instantMs: number) => number;

/**
 * Cached, since making one is the slowest part of reading a date. Bounded, since names are
 * case-insensitive.
 */
const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 500;

/** @throws RangeError for an unknown time zone */
export function zoneClock(timeZone: string): ZoneClock {
  // Sweden writes "2026-07-15 10:00:00".
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timeZone, format);
  // "1-01-02 00:00:00" is the second day of the year 1.
  return (instantMs) =>
    Date.parse(`${format.format(instantMs).padStart(19, "0").replace(" ", "T")}Z`);
}

/** As "2026-03-03". */
export const dayIn = (time: Date, timeZone: string): string =>
  isoDay(new Date(zoneClock(timeZone)(time.getTime())));

const dayInWords = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

const fullDayInWords = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

/** "Saturday, 28 November 2026" for "2026-11-28". */
export const fullDay = (day: string): string => fullDayInWords.format(new Date(day));

/** As "3 March 2026". */
export const longDate = (time: Date, timeZone: string): string =>
  dayInWords.format(new Date(dayIn(time, timeZone)));

const weekday = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });

/**
 * As "2026-03-03, Tuesday, 07:30": models that read "next Friday" or "tonight" need the weekday and
 * the hour.
 */
export function momentIn(time: Date, timeZone: string): string {
  const here = new Date(zoneClock(timeZone)(time.getTime()));
  return `${isoDay(here)}, ${weekday.format(here)}, ${here.toISOString().slice(11, 16)}`;
}

/**
 * The first moment of a day, given as midnight in UTC. A clock change at midnight skips or repeats
 * that time.
 */
export function startOfDay(dayStartMs: number, clock: ZoneClock): Date {
  const [early = 0, late = 0] = [-dayMs, dayMs]
    .map((shift) => dayStartMs - (clock(dayStartMs + shift) - (dayStartMs + shift)))
    .sort((one, other) => one - other);
  return new Date(clock(early) >= dayStartMs ? early : late);
}

export const timeZoneField = z.string().refine(isTimeZone, {
  error: ({ input }) =>
    `no time zone: ${JSON.stringify(clipped(`${input}`, 60))}. Pass a name such as "Europe/Lisbon"`,
});

function isTimeZone(name: string): boolean {
  try {
    return Boolean(zoneClock(name));
  } catch {
    return false;
  }
}
