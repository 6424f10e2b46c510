/** Texts that have a lexeme, a number each: the text's slot and how often it has the lexeme (`slotIn`, `frequencyIn`). */
export type Postings = Uint32Array;

/** Slots there may be: a posting has 24 bits for its slot. */
export const mostSlots = 2 ** 24;

/** PostgreSQL keeps no more places of a word than this in one text. */
const mostFrequency = 255;

export function slotIn(posting: number): number {
  return posting >>> 8;
}

export function frequencyIn(posting: number): number {
  return posting & mostFrequency;
}

/** Which texts have which lexemes. */
export interface PostingLists {
  /** @param slot below `mostSlots` */
  add(lexeme: string, slot: number, frequency: number): void;
  /** In the order in which they were added; a view that the next `add` may outdate. */
  of(lexeme: string): Postings;
  /** How many texts have the lexeme. */
  found(lexeme: string): number;
  /** What they take of memory. */
  readonly bytes: number;
}

const none: Postings = new Uint32Array(0);

/**
 * What a lexeme takes beside its characters: its string's header, its place in a map, which is half full, and in the two
 * columns. Measured with Node.js 20 on vocabularies of 1,000 to 30,000 lexemes.
 */
const lexemeBytes = 72;

/**
 * Lists in one array, each with room for a power of two. A list that is full moves to where there is room for twice as
 * many; the room that it leaves is taken by the next one of its size. Most lexemes of a vocabulary are rare, and an array
 * for each would take several times what stands in it.
 */
export function postingLists(): PostingLists {
  const ids = new Map<string, number>();
  let characters = 0;
  let starts = new Uint32Array(64);
  let counts = new Uint32Array(64);
  let all = new Uint32Array(256);
  let used = 0;
  /** By the binary logarithm of their size: where lists were. */
  const left: number[][] = Array.from({ length: 25 }, () => []);

  const idOf = (lexeme: string): number => {
    const known = ids.get(lexeme);
    if (known !== undefined) return known;
    const id = ids.size;
    ids.set(lexeme, id);
    characters += lexeme.length;
    starts = withRoom(starts, id + 1);
    counts = withRoom(counts, id + 1);
    return id;
  };
  /** Where there is room for `size`, a power of two. */
  const roomFor = (size: number): number => {
    const known = left[Math.log2(size)]?.pop();
    if (known !== undefined) return known;
    all = withRoom(all, used + size);
    used += size;
    return used - size;
  };
  /** Moves the full list `id` to where it has room for one more. */
  const moved = (id: number, count: number): void => {
    const to = roomFor(Math.max(1, 2 * count));
    const from = starts[id] as number;
    all.copyWithin(to, from, from + count);
    if (count > 0) left[Math.log2(count)]?.push(from);
    starts[id] = to;
  };
  return {
    add(lexeme, slot, frequency) {
      const id = idOf(lexeme);
      const count = counts[id] as number;
      const isFull = (count & (count - 1)) === 0;
      if (isFull) moved(id, count);
      all[(starts[id] as number) + count] = (slot << 8) | Math.min(frequency, mostFrequency);
      counts[id] = count + 1;
    },
    of(lexeme) {
      const id = ids.get(lexeme);
      if (id === undefined) return none;
      const start = starts[id] as number;
      return all.subarray(start, start + (counts[id] as number));
    },
    found(lexeme) {
      const id = ids.get(lexeme);
      return id === undefined ? 0 : (counts[id] as number);
    },
    get bytes() {
      return all.byteLength + starts.byteLength + counts.byteLength + characters + ids.size * lexemeBytes;
    },
  };
}

/** `column`, or where it is shorter than `length` a copy that is half as long again. */
export function withRoom(column: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= column.length) return column;
  const longer = new Uint32Array(Math.max(length, Math.ceil(column.length * 1.5)));
  longer.set(column);
  return longer;
}
