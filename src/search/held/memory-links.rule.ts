/** A link: what is linked to, and how strongly. */
type HeldLink = readonly [ref: number, strength: number];

/** Links of memories, each known at both its ends. */
export interface MemoryLinks {
  /** The links of the memory `ref`, in place of those it had. */
  put(ref: number, links: readonly HeldLink[]): void;
  clear(ref: number): void;
  has(ref: number): boolean;
  /** Calls `each` for every link of `ref`. Two memories may be linked twice. */
  each(ref: number, each: (other: number, strength: number) => void): void;
  readonly bytes: number;
}

/** What a memory with links takes beside its links: a place in a map, and an array. */
const listBytes = 104;

/** No links. */
export function memoryLinks(): MemoryLinks {
  /** By memory: other, strength, other, strength… Lists of numbers alone are kept without an object for each. */
  const lists = new Map<number, number[]>();
  let ends = 0;

  const set = (ref: number, list: number[]) => {
    ends += list.length / 2 - (lists.get(ref)?.length ?? 0) / 2;
    if (list.length === 0) lists.delete(ref);
    else lists.set(ref, list);
  };
  const without = (list: readonly number[], ref: number): number[] =>
    list.filter((_, at) => list[at - (at % 2)] !== ref);
  const clear = (ref: number) => {
    const list = lists.get(ref) ?? [];
    for (let at = 0; at < list.length; at += 2) {
      const other = list[at] as number;
      set(other, without(lists.get(other) ?? [], ref));
    }
    set(ref, []);
  };
  return {
    clear,
    put(ref, links) {
      clear(ref);
      for (const [other, strength] of links) set(other, [...(lists.get(other) ?? []), ref, strength]);
      set(ref, links.flat());
    },
    has: (ref) => lists.has(ref),
    each(ref, each) {
      const list = lists.get(ref) ?? [];
      for (let at = 0; at < list.length; at += 2) each(list[at] as number, list[at + 1] as number);
    },
    get bytes() {
      return listBytes * lists.size + 16 * ends;
    },
  };
}
