import type { MemoryItem } from "../../memories/item/memory.js";
import { type MemoryJson, memoryOf } from "../../memories/item/memory-row.js";

/** The memories of slots, as text until somebody reads them. */
export interface MemoryTexts {
  put(slot: number, json: string): void;
  clear(slot: number): void;
  jsonOf(slot: number): MemoryJson;
  /** The memory of a slot: the same object to all who read it, so it is to be copied before it is handed to a caller. */
  memoryOf(slot: number): MemoryItem;
  readonly bytes: number;
}

/**
 * Memories that are kept as objects. A recall reads up to a hundred and fifty, mostly those of the one before, and making
 * them of text would take longer than all its search; each weighs as much as three are as text.
 */
const mostRead = 200;

/**
 * What a text takes beside its characters, and a memory as an object beside what its text takes. All that may be read are
 * counted, so that no recall changes what a copy weighs.
 */
const textBytes = 32;
const objectBytes = 1_500;

const wide = /[\u0100-\uffff]/;

function bytesOf(json: string): number {
  return textBytes + json.length * (wide.test(json) ? 2 : 1);
}

/** No memories. */
export function memoryTexts(): MemoryTexts {
  const texts: (string | undefined)[] = [];
  const read = readMemories();
  let bytes = 0;

  const clear = (slot: number) => {
    const json = texts[slot];
    if (json === undefined) return;
    bytes -= bytesOf(json);
    texts[slot] = undefined;
    read.clear(slot);
  };
  const jsonOf = (slot: number) => JSON.parse(texts[slot] as string) as MemoryJson;
  return {
    clear,
    jsonOf,
    put(slot, json) {
      clear(slot);
      // Slots are given out in their order: a list with holes would be kept as a map.
      while (texts.length < slot) texts.push(undefined);
      texts[slot] = json;
      bytes += bytesOf(json);
    },
    memoryOf: (slot) => read.of(slot) ?? read.put(slot, memoryOf(jsonOf(slot))),
    get bytes() {
      return bytes + 8 * texts.length + objectBytes * Math.min(texts.length, mostRead);
    },
  };
}

/** A memory that was read. */
interface ReadMemory {
  slot: number;
  /** Null where it was changed or removed since. */
  memory: MemoryItem | null;
  /** Whether it was read again since it was last passed over. */
  again: boolean;
}

/** Memories as they were read: of many, those that are read again and again. Reading one moves nothing. */
function readMemories() {
  const bySlot = new Map<number, ReadMemory>();
  /** In a ring: the next that makes room is the first, from `hand` on, that was not read again. */
  const ring: ReadMemory[] = [];
  let hand = 0;
  const passOver = (): ReadMemory => {
    for (;;) {
      const next = ring[hand] as ReadMemory;
      hand = (hand + 1) % ring.length;
      if (!next.again) return next;
      next.again = false;
    }
  };
  return {
    of(slot: number): MemoryItem | undefined {
      const found = bySlot.get(slot);
      if (found === undefined) return undefined;
      found.again = true;
      return found.memory ?? undefined;
    },
    /** Keeps `memory`, and returns it. */
    put(slot: number, memory: MemoryItem): MemoryItem {
      if (ring.length < mostRead) {
        const made: ReadMemory = { slot, memory, again: false };
        ring.push(made);
        bySlot.set(slot, made);
        return memory;
      }
      const used = passOver();
      if (bySlot.get(used.slot) === used) bySlot.delete(used.slot);
      used.slot = slot;
      used.memory = memory;
      bySlot.set(slot, used);
      return memory;
    },
    /** Forgets the memory of `slot`; its place in the ring is the next one's in its turn. */
    clear(slot: number): void {
      const found = bySlot.get(slot);
      if (found === undefined) return;
      found.again = false;
      found.memory = null;
      bySlot.delete(slot);
    },
  };
}
