/** A copy of what is kept of one owner. */
export interface HeldCopy {
  readonly memories: number;
  readonly messages: number;
  /** What it takes of the process's memory. */
  readonly bytes: number;
  /** Gives that back; it is not used after that. */
  release(): void;
}

/** A copy among others. */
export interface CopyEntry<Held extends HeldCopy> {
  readonly key: string;
  readonly held: Held;
  readonly loadedMs: number;
  readonly usedMs: number;
  /** With what it takes here. */
  readonly bytes: number;
}

/** Copies by the keys of their owners. Together they never have more than their most bytes. */
export interface HeldCopies<Held extends HeldCopy> {
  readonly size: number;
  readonly bytes: number;
  has(key: string): boolean;
  /** The copy, used last from here on; null where there is none. */
  use(key: string): Held | null;
  /** Adds a copy, of an owner that has none. Returns the entries that had to go for it, itself if it is too large. */
  put(key: string, held: Held): CopyEntry<Held>[];
  /** Counts the bytes of a copy anew. Returns the entries that had to go. */
  weigh(key: string): CopyEntry<Held>[];
  /** Takes a copy away and releases it. Returns the entry that it was; null where there was none. */
  remove(key: string): CopyEntry<Held> | null;
  /** The entries, the one used longest ago first. */
  entries(): Iterable<CopyEntry<Held>>;
}

/** What an entry takes beside its copy and its key. */
const entryBytes = 500;

type MutableEntry<Held extends HeldCopy> = {
  -readonly [Field in keyof CopyEntry<Held>]: CopyEntry<Held>[Field];
};

/** No copies. What has to go when `mostBytes` is reached is what was used longest ago. */
export function createHeldCopies<Held extends HeldCopy>({
  mostBytes,
  nowMs,
}: {
  readonly mostBytes: number;
  nowMs(): number;
}): HeldCopies<Held> {
  // A map keeps the order in which its keys came: that of use, since each use puts the key there anew.
  const entries = new Map<string, MutableEntry<Held>>();
  let bytes = 0;
  const remove = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    entries.delete(key);
    bytes -= entry.bytes;
    entry.held.release();
    return entry;
  };
  const weigh = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined) return [];
    const weight = entry.held.bytes + entryBytes + 2 * key.length;
    bytes += weight - entry.bytes;
    entry.bytes = weight;
    const gone: CopyEntry<Held>[] = [];
    // Nothing else has to go for what does not fit anyway.
    const tooLarge = weight > mostBytes ? remove(key) : null;
    if (tooLarge) gone.push(tooLarge);
    for (const oldest of entries.keys()) {
      if (bytes <= mostBytes) break;
      gone.push(remove(oldest) as CopyEntry<Held>);
    }
    return gone;
  };
  return {
    get size() {
      return entries.size;
    },
    get bytes() {
      return bytes;
    },
    has: (key) => entries.has(key),
    use(key) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      entries.delete(key);
      entries.set(key, entry);
      entry.usedMs = nowMs();
      return entry.held;
    },
    put(key, held) {
      const now = nowMs();
      entries.set(key, { key, held, loadedMs: now, usedMs: now, bytes: 0 });
      return weigh(key);
    },
    weigh,
    remove,
    entries: () => entries.values(),
  };
}
