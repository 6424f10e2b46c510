import { dayMs } from "../clock.js";

/** A date as far as a question names it; never a day without its month. */
export interface NamedDate {
  readonly year: number | null;
  /** 1 to 12. */
  readonly month: number | null;
  readonly day: number | null;
}

/** From its first moment to the first one after it. */
export interface TimeSpan {
  readonly from: Date;
  readonly before: Date;
}

export type NamedTime = NamedDate | TimeSpan;

/** A text with more times asks for none of them. */
const mostSpans = 8;

/** Of a date without a year the last one begun by `now`; none where `now` is null. */
export function namedSpans(times: readonly NamedTime[], now: Date | null): TimeSpan[] {
  return times.flatMap((time) => ("from" in time ? time : (spanOfDate(time, now) ?? []))).slice(0, mostSpans);
}

function spanOfDate({ year, month, day }: NamedDate, now: Date | null): TimeSpan | null {
  if (year !== null) return spanOf(year, month, day);
  if (now === null) return null;
  const ofThisYear = spanOf(now.getUTCFullYear(), month, day);
  return ofThisYear.from <= now ? ofThisYear : spanOf(now.getUTCFullYear() - 1, month, day);
}

/** How near a time is to one that the question names, 0 to 1: `nearness_1` of search-memories.sql says why. */
export function nearnessInTime(at: Date, spans: readonly TimeSpan[]): number {
  return Math.max(0, ...spans.map((span) => nearnessTo(span, at)));
}

function nearnessTo({ from, before }: TimeSpan, at: Date): number {
  if (at >= from && at < before) return 1;
  if (before.getTime() - from.getTime() > 2 * dayMs) return 0;
  const [earlyMs, lateMs] = [from.getTime() - at.getTime(), at.getTime() - before.getTime()];
  return earlyMs > 2 * dayMs || lateMs > 7 * dayMs ? 0 : 0.5 ** (Math.max(4 * earlyMs, lateMs) / (2 * dayMs));
}

function spanOf(year: number, month: number | null, day: number | null): TimeSpan {
  if (month === null) return { from: midnight(year, 0), before: midnight(year + 1, 0) };
  if (day === null) return { from: midnight(year, month - 1), before: midnight(year, month) };
  return { from: midnight(year, month - 1, day), before: midnight(year, month - 1, day + 1) };
}

/** In UTC. Months from 0, days from 1; both may be beyond their year and month. */
export function midnight(year: number, monthIndex: number, day = 1): Date {
  return new Date(Date.UTC(year, monthIndex, day));
}
