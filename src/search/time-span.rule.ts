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
