import type { MemoryItem } from "../../memories/item/memory.js";
import { type MemoryJson, memoryJsonPlaces as places } from "../../memories/item/memory-row.js";
import type { HeldMemoryRow } from "./held-memory-row.js";
import type { HeldVectors } from "./held-vectors.js";
import {
  type HeldMemoryView,
  type MemoryColumns,
  memoryColumns,
  viewOf,
  type WantedMemories,
} from "./memory-columns.js";
import { type MemoryLinks, memoryLinks } from "./memory-links.rule.js";
import { type MemorySources, memorySources } from "./memory-sources.rule.js";
import { memoryTexts } from "./memory-texts.js";
import { type WordIndex, wordIndex } from "./word-index.rule.js";

/** Who else keeps something of each memory that is held. A memory that changes is removed and added. */
export interface HeldMemoriesWatch {
  readonly onAdd: (memory: HeldMemoryView) => void;
  readonly onRemove: (ref: number) => void;
}

/** The active memories of an owner, held. */
export interface HeldMemories extends Pick<MemorySources, "learnedFrom" | "isLearnedThread"> {
  /** Takes in rows that changed: what is active in the place of what it was before, and what is not is held no longer. */
  apply(rows: readonly HeldMemoryRow[]): void;
  /** How many there are. */
  readonly count: number;
  /** Whether each has a vector, where vectors are held: else the vectors of some are in another space. */
  readonly isComplete: boolean;
  /** How many memories have the lexeme. */
  found(lexeme: string): number;
  /** Whether any memory has a speaker whose name has the word. */
  hasSpeaker(word: string): boolean;
  /** Whether the memory `ref` is held here and one of those wanted. */
  visible(wanted: WantedMemories): (ref: number) => boolean;
  /** Undefined where it is not held. The same object to all who read it: to be copied before a caller is given it. */
  memoryOf(ref: number): MemoryItem | undefined;
  /** What all this takes of memory. */
  readonly bytes: number;
  /** Gives the room of vectors back; then nothing may be asked any more. */
  release(): void;
  /** What searches read. */
  readonly index: HeldMemoryIndex;
}

/** What a search reads of held memories. Each has a slot, a number below `slots` that may become another's. */
export interface HeldMemoryIndex {
  readonly columns: MemoryColumns;
  readonly words: Pick<WordIndex, "found" | "textsWith">;
  readonly links: Pick<MemoryLinks, "has" | "each">;
  /** Null without embeddings. */
  readonly vectors: HeldVectors | null;
  readonly slots: number;
  slotOf(ref: number): number | undefined;
}

/** What a memory takes with its place in a map. */
const placeBytes = 40;

/** No memories of an owner whose vectors, where there are embeddings, are put into `vectors`. */
export function heldMemories(vectors: HeldVectors | null, watch?: HeldMemoriesWatch): HeldMemories {
  const columns = memoryColumns();
  const words = wordIndex();
  const links = memoryLinks();
  const sources = memorySources();
  const texts = memoryTexts();
  const slots = slotsByRef();
  const vectorSlots = slotsWithVector(vectors);
  const { put, remove } = writerOf({
    ...{ columns, words, links, sources, texts, slots, vectorSlots },
    watch,
  });
  return {
    apply(rows) {
      for (const row of rows) {
        if (row.active && row.memory !== null) put(row, row.memory);
        else remove(row.ref);
      }
    },
    get count() {
      return slots.count;
    },
    get isComplete() {
      return vectors === null || vectorSlots.count === slots.count;
    },
    found: words.found,
    hasSpeaker: (word) => words.found(speakerWord(word)) > 0,
    visible(wanted) {
      const isVisible = columns.visible(wanted);
      return (ref) => {
        const slot = slots.of(ref);
        return slot !== undefined && isVisible(slot);
      };
    },
    memoryOf(ref) {
      const slot = slots.of(ref);
      return slot === undefined ? undefined : texts.memoryOf(slot);
    },
    learnedFrom: sources.learnedFrom,
    isLearnedThread: sources.isLearnedThread,
    get bytes() {
      const parts = [columns, words, links, sources, texts].reduce((bytes, part) => bytes + part.bytes, 0);
      return parts + (vectors?.bytes ?? 0) + placeBytes * (slots.count + vectorSlots.count);
    },
    release: () => vectors?.release(),
    index: {
      ...{ columns, words, links, vectors },
      get slots() {
        return slots.end;
      },
      slotOf: slots.of,
    },
  };
}

/** What held memories are kept in. */
interface MemoryParts {
  readonly columns: ReturnType<typeof memoryColumns>;
  readonly words: WordIndex;
  readonly links: MemoryLinks;
  readonly sources: MemorySources;
  readonly texts: ReturnType<typeof memoryTexts>;
  readonly slots: ReturnType<typeof slotsByRef>;
  readonly vectorSlots: ReturnType<typeof slotsWithVector>;
  readonly watch: HeldMemoriesWatch | undefined;
}

/** Writes a memory into each part, or takes it out of each. */
function writerOf({ columns, words, links, sources, texts, slots, vectorSlots, watch }: MemoryParts) {
  const leave = (slot: number) => {
    const json = texts.jsonOf(slot);
    sources.remove(columns.refs[slot] as number, columns.threads[slot] as number, seqsOf(json));
    watch?.onRemove(columns.refs[slot] as number);
  };
  return {
    /** `row`, whose memory is `json`, in the place of what it was before. */
    put(row: HeldMemoryRow, json: string): void {
      const known = slots.of(row.ref);
      if (known !== undefined) leave(known);
      const slot = known ?? slots.take(row.ref);
      const fields = JSON.parse(json) as MemoryJson;
      const view = viewOf(row.ref, fields);
      columns.set(slot, view, row);
      words.put(
        slot,
        [...row.lexemes, ...row.speakers.map(speakerWord)],
        [...row.frequencies, ...row.speakers.map(() => 1)],
      );
      texts.put(slot, json);
      links.put(row.ref, row.links);
      if (row.thread !== null) sources.add(row.ref, row.thread, seqsOf(fields));
      vectorSlots.set(slot, row.vector);
      watch?.onAdd(view);
    },
    remove(ref: number): void {
      links.clear(ref);
      const slot = slots.of(ref);
      if (slot === undefined) return;
      leave(slot);
      slots.giveBack(ref);
      columns.clear(slot);
      words.clear(slot);
      texts.clear(slot);
      vectorSlots.set(slot, null);
    },
  };
}

/** Which slots have a vector in `vectors`; none, where no vectors are held. */
function slotsWithVector(vectors: HeldVectors | null) {
  const withVector = new Set<number>();
  return {
    /** @param vector in base64; null where there is none. */
    set(slot: number, vector: string | null): void {
      if (vectors === null) return;
      if (vector !== null) {
        vectors.set(slot, Buffer.from(vector, "base64"));
        withVector.add(slot);
      } else if (withVector.delete(slot)) vectors.clear(slot);
    },
    get count() {
      return withVector.size;
    },
  };
}

/** Which slot each memory has. One that is given back is the next one's. */
function slotsByRef() {
  const slots = new Map<number, number>();
  const unused: number[] = [];
  let end = 0;
  return {
    of: (ref: number) => slots.get(ref),
    take(ref: number): number {
      const slot = unused.pop() ?? end++;
      slots.set(ref, slot);
      return slot;
    },
    giveBack(ref: number): void {
      unused.push(slots.get(ref) as number);
      slots.delete(ref);
    },
    get count() {
      return slots.size;
    },
    /** All slots are below. */
    get end() {
      return end;
    },
  };
}

/** As the index of words has a word of a speaker's name. */
function speakerWord(word: string): string {
  return `@${word}`;
}

function seqsOf(json: MemoryJson): readonly number[] {
  return json[places.sourceSeqs] as readonly number[];
}
