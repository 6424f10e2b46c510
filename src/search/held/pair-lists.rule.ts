/** A number below 16,777,216 with one up to 255 beside it: PostgreSQL counts a word no further in one text. */
export type Pair = number;

export function pairOf(number: number, beside: number): Pair {
  return ((number << 8) | Math.min(beside, 255)) >>> 0;
}

export function numberIn(pair: Pair): number {
  return pair >>> 8;
}

export function besideIn(pair: Pair): number {
  return pair & 255;
}

/**
 * Many lists of pairs, numbered from 0 on, in one array: most lists of an index of words have one or two, and an array for
 * each would weigh ten times as much as they do.
 */
export interface PairLists {
  /** All pairs: those of a list from `start` on. Another array after a change. */
  readonly pairs: Uint32Array;
  start(list: number): number;
  size(list: number): number;
  push(list: number, pair: Pair): void;
  /** Puts `pairs` into a list that is empty. */
  fill(list: number, pairs: readonly Pair[]): void;
  /** Takes out the pair with this number. The last one takes its place. */
  take(list: number, number: number): void;
  clear(list: number): void;
  readonly bytes: number;
}

/** Rooms that lists have: 1, 2, 3, 4, 6, 8, 12… A third of one is empty at most. */
const rooms: readonly number[] = [
  1,
  ...Array.from({ length: 28 }, (_, power) => [2 ** (power + 1), 3 * 2 ** power]).flat(),
];

/** What an array grows by: half as much again would leave a quarter of it empty. */
const growth = 1.25;

type Column = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** `column`, or where it is shorter than `length` a longer copy. */
export function withLength<Numbers extends Column>(column: Numbers, length: number): Numbers {
  if (length <= column.length) return column;
  const Longer = column.constructor as new (length: number) => Numbers;
  const longer = new Longer(Math.max(length, 16, Math.ceil(column.length * growth)));
  longer.set(column);
  return longer;
}

/** No lists. */
export function pairLists(): PairLists {
  let pairs = new Uint32Array(0);
  let starts = new Uint32Array(0);
  let sizes = new Uint32Array(0);
  /** Places in `rooms`. A list has a room as long as it is not empty. */
  let roomOf = new Uint8Array(0);
  let used = 0;
  /** By room: where lists were. */
  const left: number[][] = rooms.map(() => []);

  const size = (list: number) => (list < sizes.length ? (sizes[list] as number) : 0);
  /** Moves a list to where there is room for `count`. */
  const enter = (list: number, count: number) => {
    starts = withLength(starts, list + 1);
    sizes = withLength(sizes, list + 1);
    roomOf = withLength(roomOf, list + 1);
    const room = rooms.findIndex((most) => most >= count);
    const to = left[room]?.pop() ?? used;
    if (to === used) used += rooms[room] as number;
    pairs = withLength(pairs, used);
    const [from, before] = [starts[list] as number, sizes[list] as number];
    pairs.copyWithin(to, from, from + before);
    if (before > 0) left[roomOf[list] as number]?.push(from);
    starts[list] = to;
    roomOf[list] = room;
  };
  const clear = (list: number) => {
    if (size(list) === 0) return;
    left[roomOf[list] as number]?.push(starts[list] as number);
    sizes[list] = 0;
  };
  return {
    get pairs() {
      return pairs;
    },
    get bytes() {
      const free = left.reduce((sum, each) => sum + each.length, 0);
      return pairs.byteLength + starts.byteLength + sizes.byteLength + roomOf.byteLength + 8 * free;
    },
    start: (list) => starts[list] as number,
    size,
    clear,
    push(list, pair) {
      const count = size(list);
      const isFull = count === 0 || count === rooms[roomOf[list] as number];
      if (isFull) enter(list, count + 1);
      pairs[(starts[list] as number) + count] = pair;
      sizes[list] = count + 1;
    },
    fill(list, filled) {
      if (filled.length === 0) return;
      enter(list, filled.length);
      pairs.set(filled, starts[list]);
      sizes[list] = filled.length;
    },
    take(list, number) {
      const [start, count] = [starts[list] as number, size(list)];
      for (let at = start; at < start + count; at++) {
        if (numberIn(pairs[at] as number) !== number) continue;
        if (count === 1) return clear(list);
        pairs[at] = pairs[start + count - 1] as number;
        sizes[list] = count - 1;
        return;
      }
    },
  };
}
