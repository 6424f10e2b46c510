import { shortKey } from "./owner-key.js";

/** Which owners were recalled or written to lately, and which of them are to be left alone for a while. */
export interface SeenOwners {
  /** Notes a recall. Whether it is the second within the time, of an owner that is not to be left alone. */
  again(key: string): boolean;
  /** Notes a write. Whether there were twenty before it within the time, of an owner that is not to be left alone. */
  written(key: string): boolean;
  /** Notes a recall that was some time ago. */
  note(key: string, atMs: number): void;
  /** Has the owner left alone until then. */
  leaveAlone(key: string, untilMs: number): void;
  /** How many owners are known, at most 10,000. */
  readonly size: number;
}

/**
 * Half of the owners of whom something is known at the same time, some 2 MB in all. A process that meets more users than
 * this within ten minutes could hold few of them anyway.
 */
const mostRecent = 5_000;

/**
 * Writes to an owner before the next one has it taken in. To take in a memory costs as much as to compare it in the database
 * with some seventy statements that come one by one.
 */
const enoughWrites = 20;

interface Seen {
  /** The last recall. */
  readonly atMs: number;
  /** The last write, and how many there were up to it, each not longer than the time after the one before. */
  readonly writtenMs: number;
  readonly writes: number;
  readonly aloneUntilMs: number;
}

const never = Number.NEGATIVE_INFINITY;
const unseen: Seen = { atMs: never, writtenMs: never, writes: 0, aloneUntilMs: never };

/** Nobody was seen yet. @param withinMs how long a recall counts as lately. */
export function createSeenOwners(withinMs: number, nowMs: () => number): SeenOwners {
  // Two maps, of which the older is forgotten whole: one whose first key is deleted each time takes 20 µs for that.
  let recent = new Map<string, Seen>();
  let older = new Map<string, Seen>();
  /** Changes what is known of an owner, and returns what was known before. */
  const put = (key: string, changed: (before: Seen) => Partial<Seen>): Seen => {
    const short = shortKey(key);
    const before = recent.get(short) ?? older.get(short) ?? unseen;
    older.delete(short);
    if (recent.size >= mostRecent && !recent.has(short)) [older, recent] = [recent, new Map()];
    recent.set(short, { ...before, ...changed(before) });
    return before;
  };
  const lately = ({ writtenMs, writes }: Seen, now: number) => (now - writtenMs <= withinMs ? writes : 0);
  return {
    again(key) {
      const now = nowMs();
      const { atMs, aloneUntilMs } = put(key, () => ({ atMs: now }));
      return now - atMs <= withinMs && now >= aloneUntilMs;
    },
    written(key) {
      const now = nowMs();
      const before = put(key, (seen) => ({ writtenMs: now, writes: lately(seen, now) + 1 }));
      return lately(before, now) >= enoughWrites && now >= before.aloneUntilMs;
    },
    note: (key, atMs) => void put(key, () => ({ atMs })),
    leaveAlone: (key, aloneUntilMs) => void put(key, () => ({ aloneUntilMs })),
    get size() {
      return recent.size + older.size;
    },
  };
}
