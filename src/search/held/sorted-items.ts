/** Below 0 when `a` stands before `b`, above 0 when behind; 0 only for an item and itself. */
export type Order<Item> = (a: Item, b: Item) => number;

/** Where the items begin that are `behind`, if all behind one that is are too; their number when none is. */
export function firstIndex<Item>(items: readonly Item[], isBehind: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBehind(items[middle] as Item)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Puts `item` in its place. What stands behind moves on: put at the end what comes most often. */
export function insertSorted<Item>(items: Item[], item: Item, order: Order<Item>): void {
  const last = items.at(-1);
  if (last === undefined || order(last, item) < 0) items.push(item);
  else
    items.splice(
      firstIndex(items, (other) => order(other, item) > 0),
      0,
      item,
    );
}

/** Takes `item` out, if it is there. */
export function removeSorted<Item>(items: Item[], item: Item, order: Order<Item>): void {
  const at = firstIndex(items, (other) => order(other, item) >= 0);
  if (items[at] === item) items.splice(at, 1);
}

/** Sorted items that are read from the last one on. */
export interface Reader<Item> {
  readonly items: readonly Item[];
  /** What is read next. */
  next: Item;
  /** Its index. */
  at: number;
}

/** Many lists, read as one. */
export interface Merge<Of> {
  /** The reader whose next item stands last of all; undefined when there is no more to read. */
  readonly first: Of | undefined;
  /** That reader goes on at this index; it has been read when that is below 0. */
  move(at: number): void;
}

/** Reads what `readers` read in one order. It is a heap: the next item is found in log₂ of their number. */
export function merge<Item, Of extends Reader<Item>>(readers: readonly Of[], order: Order<Item>): Merge<Of> {
  const heap = [...readers];
  const sink = (from: number) => {
    const reader = heap[from] as Of;
    let at = from;
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      let best = heap[child] as Of;
      const other = heap[child + 1];
      if (other && order(other.next, best.next) > 0) {
        best = other;
        child++;
      }
      if (order(reader.next, best.next) > 0) break;
      heap[at] = best;
      at = child;
    }
    heap[at] = reader;
  };
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(at);
  return {
    get first() {
      return heap[0];
    },
    move(at) {
      const reader = heap[0];
      if (!reader) return;
      reader.at = at;
      if (at >= 0) reader.next = reader.items[at] as Item;
      else {
        const last = heap.pop() as Of;
        if (heap.length === 0) return;
        heap[0] = last;
      }
      sink(0);
    },
  };
}
