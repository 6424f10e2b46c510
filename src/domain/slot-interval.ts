import { isoTimeMs } from "./iso-time.js";

/** A stretch of time for which a slot held a value: ISO times, `to` null while it does. */
export interface HeldInterval {
  readonly from: string;
  readonly to: string | null;
}

/**
 * Since when a value holds that takes its slot (again): since `from`, or since the last of `others` ended that did so
 * later, so that a slot never held two values at a time. `others` have ended.
 */
export function freeSince(from: string, others: readonly HeldInterval[]): string {
  return others
    .filter(holdsAnything)
    .reduce((latest, { to }) => (to && isBefore(latest, to) ? to : latest), from);
}

/**
 * What of `interval` the slot was free for: its first stretch that none of `others` held. Empty where there is none:
 * then it ends as it begins. One that ends before it begins is empty as well.
 */
export function freeInterval(interval: HeldInterval, others: readonly HeldInterval[]): HeldInterval {
  const held = others.filter(holdsAnything);
  if (!holdsAnything(interval)) return { from: interval.from, to: interval.from };
  let from: string | null = interval.from;
  for (let moved = true; moved && from !== null; ) {
    const at: string = from;
    const over = held.find((other) => !isBefore(at, other.from) && endsAfter(other.to, at));
    moved = over !== undefined;
    if (over) from = over.to;
  }
  if (from === null || !endsAfter(interval.to, from)) return { from: interval.from, to: interval.from };
  const start = from;
  const to = held.reduce<string | null>(
    (first, other) => (isBefore(start, other.from) && endsAfter(first, other.from) ? other.from : first),
    interval.to,
  );
  return { from: start, to };
}

function holdsAnything({ from, to }: HeldInterval): boolean {
  return endsAfter(to, from);
}

function endsAfter(to: string | null, time: string): boolean {
  return to === null || isBefore(time, to);
}

function isBefore(one: string, other: string): boolean {
  const [oneMs, otherMs] = [isoTimeMs(one) ?? 0, isoTimeMs(other) ?? 0];
  return oneMs === otherMs ? micros(one) < micros(other) : oneMs < otherMs;
}

/** What `isoTimeMs` leaves out: the digits of the second's fraction, as many as PostgreSQL has. */
function micros(time: string): string {
  return (/\.(\d{1,6})/.exec(time)?.[1] ?? "").padEnd(6, "0");
}
