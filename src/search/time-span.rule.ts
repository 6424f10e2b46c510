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

/** 1 within one of `spans`, half of that with each two days before or after: people tell of yesterday and of last weekend. */
export function nearnessInTime(at: Date, spans: readonly TimeSpan[]): number {
  const nearness = spans.map(({ from, before }) => {
    const outsideMs = Math.max(0, from.getTime() - at.getTime(), at.getTime() - before.getTime());
    return outsideMs > farthestMs ? 0 : 0.5 ** (outsideMs / halfLifeMs);
  });
  return Math.max(0, ...nearness);
}

const halfLifeMs = 2 * dayMs;
const farthestMs = 7 * dayMs;

function spanOf(year: number, month: number | null, day: number | null): TimeSpan {
  if (month === null) return { from: midnight(year, 0), before: midnight(year + 1, 0) };
  if (day === null) return { from: midnight(year, month - 1), before: midnight(year, month) };
  return { from: midnight(year, month - 1, day), before: midnight(year, month - 1, day + 1) };
}

/** In UTC. Months from 0, days from 1; both may be beyond their year and month. */
export function midnight(year: number, monthIndex: number, day = 1): Date {
  return new Date(Date.UTC(year, monthIndex, day));
}
