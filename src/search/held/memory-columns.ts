import { type MemoryKind, memoryKinds } from "../../memories/item/memory.js";
import { type MemoryJson, memoryJsonPlaces as places } from "../../memories/item/memory-row.js";
import { withLength } from "./pair-lists.rule.js";

/** What is asked of a memory without reading its words, as whoever keeps lists of memories is shown it. */
export interface HeldMemoryView {
  readonly ref: number;
  readonly appId: string;
  readonly kind: MemoryKind;
  readonly category: string;
  readonly pinned: boolean;
  readonly hasKey: boolean;
  /** Of single precision, as the database has it. */
  readonly importance: number;
  /** Times are milliseconds since 1970, with microseconds as their fraction. */
  readonly updatedAt: number;
  readonly validFrom: number;
  readonly expiresAt: number | null;
}

/** `json` as a view: `json` is what `memoryJson` makes of the memory `ref`. */
export function viewOf(ref: number, json: MemoryJson): HeldMemoryView {
  return {
    ref,
    appId: json[places.appId] as string,
    kind: json[places.kind] as MemoryKind,
    category: json[places.category] as string,
    pinned: json[places.pinned] as boolean,
    hasKey: json[places.key] !== null,
    importance: Math.fround(json[places.importance] as number),
    updatedAt: json[places.updatedAt] as number,
    validFrom: json[places.validFrom] as number,
    expiresAt: json[places.expiresAt] as number | null,
  };
}

/** A time in milliseconds, with microseconds as their fraction, in whole microseconds: as exact as the database has it. */
export function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000);
}

/** Which memories a search may return. */
export interface WantedMemories {
  /** Only memories of this app and of none; "" for those of none. */
  readonly appId: string;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  /** In microseconds: what has expired by then is hidden. */
  readonly now: number;
}

/** What is asked of memories without reading their words, by slot. A slot without a memory has 0 as its ref. */
export interface MemoryColumns {
  readonly refs: Float64Array;
  readonly importance: Float32Array;
  /** In microseconds. */
  readonly validFrom: Float64Array;
  /** The thread it was learned in; 0 for none. */
  readonly threads: Float64Array;
  /** In words. */
  readonly lengths: Uint32Array;
  set(
    slot: number,
    view: HeldMemoryView,
    more: { readonly thread: number | null; readonly length: number },
  ): void;
  clear(slot: number): void;
  /** Whether the memory of a slot is one of this very app; "" for those of none. */
  ofApp(appId: string): (slot: number) => boolean;
  /** Whether the memory of a slot is one of those wanted. */
  visible(wanted: WantedMemories): (slot: number) => boolean;
  readonly bytes: number;
}

/** Texts that many memories share, a number each. */
function numbered() {
  const numbers = new Map<string, number>();
  return {
    of(text: string): number {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      numbers.set(text, numbers.size);
      return numbers.size - 1;
    },
    /** By number, whether it is that of one of `texts`. */
    those(texts: readonly string[]): Uint8Array {
      const flags = new Uint8Array(numbers.size);
      for (const text of texts) {
        const number = numbers.get(text);
        if (number !== undefined) flags[number] = 1;
      }
      return flags;
    },
    get bytes() {
      return [...numbers.keys()].reduce((bytes, text) => bytes + 64 + 2 * text.length, 0);
    },
  };
}

/** No memories. */
export function memoryColumns(): MemoryColumns {
  const [apps, categories] = [numbered(), numbered()];
  const kindNumbers = new Map(memoryKinds.map((kind, number) => [kind, number]));
  const of = {
    refs: new Float64Array(0),
    importance: new Float32Array(0),
    validFrom: new Float64Array(0),
    expiresAt: new Float64Array(0),
    threads: new Float64Array(0),
    lengths: new Uint32Array(0),
    kinds: new Uint8Array(0),
    categories: new Uint32Array(0),
    apps: new Uint32Array(0),
  };
  const withSlot = (slot: number) => {
    if (slot < of.refs.length) return;
    for (const name of Object.keys(of) as (keyof typeof of)[]) {
      Object.assign(of, { [name]: withLength(of[name], slot + 1) });
    }
  };
  return {
    get refs() {
      return of.refs;
    },
    get importance() {
      return of.importance;
    },
    get validFrom() {
      return of.validFrom;
    },
    get threads() {
      return of.threads;
    },
    get lengths() {
      return of.lengths;
    },
    get bytes() {
      const columns = Object.values(of).reduce((bytes, column) => bytes + column.byteLength, 0);
      return columns + apps.bytes + categories.bytes;
    },
    set(slot, view, { thread, length }) {
      withSlot(slot);
      of.refs[slot] = view.ref;
      of.importance[slot] = view.importance;
      of.validFrom[slot] = microseconds(view.validFrom);
      of.expiresAt[slot] = microseconds(view.expiresAt ?? Number.POSITIVE_INFINITY);
      of.threads[slot] = thread ?? 0;
      of.lengths[slot] = length;
      of.kinds[slot] = kindNumbers.get(view.kind) as number;
      of.categories[slot] = categories.of(view.category);
      of.apps[slot] = apps.of(view.appId);
    },
    clear(slot) {
      of.refs[slot] = 0;
    },
    ofApp(appId) {
      const isApp = apps.those([appId]);
      return (slot) => of.refs[slot] !== 0 && isApp[of.apps[slot] as number] === 1;
    },
    visible(wanted) {
      const kinds = new Uint8Array(memoryKinds.map((kind) => Number(wanted.kinds.includes(kind))));
      const [inCategory, inApp] = [categories.those(wanted.categories), apps.those(["", wanted.appId])];
      return (slot) =>
        of.refs[slot] !== 0 &&
        (of.expiresAt[slot] as number) > wanted.now &&
        inApp[of.apps[slot] as number] === 1 &&
        kinds[of.kinds[slot] as number] === 1 &&
        inCategory[of.categories[slot] as number] === 1;
    },
  };
}
