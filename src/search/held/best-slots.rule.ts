/** A memory among the best by some value. */
export interface RankedSlot {
  /** Place of its owner in the list given. */
  readonly owner: number;
  readonly slot: number;
  readonly ref: number;
  readonly value: number;
}

/** The best of all that are offered, by value; of equals, those of the lesser `tie`. No two ties are the same. */
export interface BestSlots {
  /** Nothing below this is among the best. To be asked first: most offers are refused. */
  readonly least: number;
  offer(value: number, tie: number, owner: number, slot: number, ref: number): void;
  /** In no order. */
  top(): RankedSlot[];
  /** Best first. */
  ranked(): RankedSlot[];
}

/** The `most` best. The worst of those so far lies on top of a heap. */
export function bestSlots(most: number): BestSlots {
  // Lists of numbers: an object for each offer would be most of what a search leaves behind to be collected.
  const values: number[] = [];
  const ties: number[] = [];
  const owners: number[] = [];
  const slots: number[] = [];
  const refs: number[] = [];
  /** Places in these lists. */
  const heap: number[] = [];
  const isWorse = (first: number, second: number) => {
    const value = values[first] as number;
    const other = values[second] as number;
    return value < other || (value === other && (ties[first] as number) > (ties[second] as number));
  };
  const rise = (risen: number) => {
    let at = heap.push(risen) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isWorse(risen, heap[above] as number)) break;
      heap[at] = heap[above] as number;
      at = above;
    }
    heap[at] = risen;
  };
  const sink = (sunk: number) => {
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const other = below + 1;
      const worse =
        other < heap.length && isWorse(heap[other] as number, heap[below] as number) ? other : below;
      if (!isWorse(heap[worse] as number, sunk)) break;
      heap[at] = heap[worse] as number;
      at = worse;
    }
    heap[at] = sunk;
  };
  const best = {
    // A field, as it is read for each of thousands.
    least: most > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
    offer(value: number, tie: number, owner: number, slot: number, ref: number) {
      const isFull = heap.length >= most;
      const worst = heap[0] ?? 0;
      // Equals are many: texts made alike, and questions about nothing that is known.
      if (isFull && (value < best.least || (value === best.least && tie > (ties[worst] as number)))) return;
      const place = isFull ? worst : heap.length;
      values[place] = value;
      ties[place] = tie;
      owners[place] = owner;
      slots[place] = slot;
      refs[place] = ref;
      if (isFull) sink(place);
      else rise(place);
      if (heap.length === most) best.least = values[heap[0] as number] as number;
    },
    top: () => heap.map(slotAt),
    ranked: () => heap.toSorted((first, second) => (isWorse(second, first) ? -1 : 1)).map(slotAt),
  };
  const slotAt = (place: number): RankedSlot => {
    return {
      owner: owners[place] as number,
      slot: slots[place] as number,
      ref: refs[place] as number,
      value: values[place] as number,
    };
  };
  return best;
}

const isBetter = (first: RankedSlot, second: RankedSlot) =>
  first.value > second.value || (first.value === second.value && first.ref < second.ref);

/** Puts the `most` best of `items`, of equals those of the lesser ref, to the front, in no order (Hoare's selection). */
export function bestToFront(items: RankedSlot[], most: number): void {
  let [low, high] = [0, items.length - 1];
  while (low < high) {
    const right = parted(items, low, high);
    if (most - 1 <= right) high = right;
    else low = right + 1;
  }
}

/** Puts the better of `items` from `low` to `high` in front of the lesser. Returns the place of the last of the better. */
function parted(items: RankedSlot[], low: number, high: number): number {
  const middle = items[(low + high) >>> 1] as RankedSlot;
  let [left, right] = [low, high];
  for (;;) {
    while (isBetter(items[left] as RankedSlot, middle)) left++;
    while (isBetter(middle, items[right] as RankedSlot)) right--;
    if (left >= right) return right;
    const better = items[right] as RankedSlot;
    items[right--] = items[left] as RankedSlot;
    items[left++] = better;
  }
}
