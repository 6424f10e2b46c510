import { shortKey } from "./owner-key.js";

/** Which owners were recalled lately, and which of them are to be left alone for a while. */
export interface SeenOwners {
  /** Notes a recall. Whether it is the second within the time, of an owner that is not to be left alone. */
  again(key: string): boolean;
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

interface Seen {
  readonly atMs: number;
  readonly aloneUntilMs: number;
}

const unseen: Seen = { atMs: Number.NEGATIVE_INFINITY, aloneUntilMs: Number.NEGATIVE_INFINITY };

/** Nobody was seen yet. @param withinMs how long a recall counts as lately. */
export function createSeenOwners(withinMs: number, nowMs: () => number): SeenOwners {
  // Two maps, of which the older is forgotten whole: one whose first key is deleted each time takes 20 µs for that.
  let recent = new Map<string, Seen>();
  let older = new Map<string, Seen>();
  /** Changes what is known of an owner, and returns what was known before. */
  const put = (key: string, known: Partial<Seen>): Seen => {
    const short = shortKey(key);
    const before = recent.get(short) ?? older.get(short) ?? unseen;
    older.delete(short);
    if (recent.size >= mostRecent && !recent.has(short)) [older, recent] = [recent, new Map()];
    recent.set(short, { ...before, ...known });
    return before;
  };
  return {
    again(key) {
      const now = nowMs();
      const { atMs, aloneUntilMs } = put(key, { atMs: now });
      return now - atMs <= withinMs && now >= aloneUntilMs;
    },
    note: (key, atMs) => void put(key, { atMs }),
    leaveAlone: (key, aloneUntilMs) => void put(key, { aloneUntilMs }),
    get size() {
      return recent.size + older.size;
    },
  };
}
