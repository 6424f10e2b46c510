import { z } from "zod";
import { dayMs } from "../clock.js";

/** Includes `from`, excludes `before`. */
export interface TimeSpan {
  readonly from: Date;
  readonly before: Date;
}

/** `spans` as PostgreSQL reads `tstzrange[]`. */
export function rangesOf(spans: readonly TimeSpan[]): string[] {
  return spans.map(({ from, before }) => `[${from.toISOString()},${before.toISOString()})`);
}

/**
 * Nearness of a time to the nearest of `spans`, 0 to 1, by the formula of `nearness_1` in
 * search-memories.sql.
 */
export function nearnessInTime(at: Date, spans: readonly TimeSpan[]): number {
  return Math.max(0, ...spans.map((span) => nearnessTo(span, at)));
}

function nearnessTo({ from, before }: TimeSpan, at: Date): number {
  if (at >= from && at < before) return 1;
  if (before.getTime() - from.getTime() > 2 * dayMs) return 0;
  const [earlyMs, lateMs] = [from.getTime() - at.getTime(), at.getTime() - before.getTime()];
  return earlyMs > 2 * dayMs || lateMs > 7 * dayMs
    ? 0
    : 0.5 ** (Math.max(4 * earlyMs, lateMs) / (2 * dayMs));
}

/** Milliseconds since 1970 on the clock of a time zone, as if that clock showed UTC. */
export type ZoneClock = (instantMs: number) => number;

/**
 * Cached, since making one is the slowest part of reading a date. Bounded, since names are
 * case-insensitive.
 */
const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 500;

/** @throws RangeError for an unknown time zone */
export function zoneClock(timeZone: string): ZoneClock {
  // Sweden writes "2026-07-15 10:00:00".
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });
  if (formats.size >= mostFormats) formats.clear();
  formats.set(timeZone, format);
  return (instantMs) => Date.parse(`${format.format(instantMs)}Z`);
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
    `no time zone: ${JSON.stringify(input)}. Pass a name such as "Europe/Lisbon"`,
});

function isTimeZone(name: string): boolean {
  try {
    return Boolean(zoneClock(name));
  } catch {
    return false;
  }
}
