/** The current time. @default the database's clock, which all machines share */
export type Clock = () => Date;

/** Longest wait of Node's timers: 2³¹ − 1 ms, some 25 days. Node takes longer ones for 1 ms. */
export const maxTimerMs = 2_147_483_647;

export const dayMs = 86_400_000;

/** A hundred years: limits spans, so that dates stay within their range. */
export const maxSpanMs = 3_155_760_000_000;

const form =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,6})?(?:Z|([+-])(0\d|1[0-5]):([0-5]\d)(?::([0-5]\d))?)$/;

const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59Z");

/** The day of `time` in UTC, as in "2025-03-01". */
export const isoDay = (time: Date): string => time.toISOString().slice(0, 10);

/**
 * Null without an offset, for a day not in the calendar, or outside the years 1 to 9999. Accepts
 * microseconds, and offsets with seconds, as PostgreSQL writes them for old times.
 */
export function isoTimeMs(text: string): number | null {
  const [, day, hour, minute, second, sign, ...offset] = form.exec(text) ?? [];
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  // JavaScript takes the 30th of February for the 2nd of March.
  if (Number.isNaN(midnightMs) || isoDay(new Date(midnightMs)) !== day) return null;
  const offsetMs = durationMs(offset) * (sign === "-" ? -1 : 1);
  const timeMs = midnightMs + durationMs([hour, minute, second]) - offsetMs;
  return timeMs >= firstMs && timeMs <= lastMs ? timeMs : null;
}

function durationMs([hours = "0", minutes = "0", seconds = "0"]: readonly (
  | string
  | undefined
)[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}
