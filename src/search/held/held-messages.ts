import type { HeldMessageRow, HeldMessageWords } from "./held-message-row.js";
import { mostSlots, type Postings, postingLists, withRoom } from "./posting-lists.rule.js";

/** A thread whose messages are held. */
interface HeldThreadSize {
  /** `thread.id`. */
  readonly ref: number;
  readonly app: string;
  /** How many messages it has. */
  readonly size: number;
}

/**
 * The words of an owner's messages, held. A message has a slot, a number below `slots` that columns are read by; not every
 * slot is a message's.
 */
export interface HeldMessages {
  /** Takes in what is new of `rows`. What is held already is passed over. */
  apply(rows: readonly HeldMessageRow[]): void;
  /** How many messages have the lexeme. */
  found(lexeme: string): number;
  /** Whether any message is of a speaker whose name has the word. */
  hasSpeaker(word: string): boolean;
  /** The messages that have the lexeme; to be read before the next `apply`. */
  postings(lexeme: string): Postings;
  readonly slots: number;
  /** By slot: how many words the message has. */
  readonly lengths: Uint32Array;
  /** The place in `threads` of the thread that the slot's message is in. */
  threadAt(slot: number): number;
  /** The seq of the slot's message. */
  seqAt(slot: number): number;
  readonly threads: readonly HeldThreadSize[];
  /** What all this takes of memory. */
  readonly bytes: number;
}

/** Slots come in blocks of 16 seqs of a thread: where one begins is kept once for them all, and few of a short thread's are idle. */
const blockBits = 4;
const blockSlots = 2 ** blockBits;

interface ThreadBlocks extends HeldThreadSize {
  size: number;
  /** By the seq's block: which block of slots that is. */
  readonly blocks: number[];
}

/** What a thread takes with its list of blocks, and a speaker's word; measured like `lexemeBytes`. */
const threadBytes = 250;
const speakerBytes = 72;

export function heldMessages(): HeldMessages {
  const words = postingLists();
  const speakers = new Set<string>();
  const apps = new Map<string, string>();
  const threads: ThreadBlocks[] = [];
  const places = new Map<number, number>();
  let blocks = 0;
  let lengths = new Uint32Array(blockSlots);
  /** By block: the place of its thread, and its first seq. */
  let blockThreads = new Uint32Array(4);
  let blockSeqs = new Uint32Array(4);

  const placeOf = ({ thread, app }: HeldMessageRow): number => {
    const known = places.get(thread);
    if (known !== undefined) return known;
    if (!apps.has(app)) apps.set(app, app);
    const place = threads.push({ ref: thread, app: apps.get(app) as string, size: 0, blocks: [] }) - 1;
    places.set(thread, place);
    return place;
  };
  const slotOf = (place: number, seq: number): number => {
    const own = (threads[place] as ThreadBlocks).blocks;
    const block = own[seq >>> blockBits] ?? newBlock(place, seq);
    own[seq >>> blockBits] = block;
    return (block << blockBits) + (seq & (blockSlots - 1));
  };
  const newBlock = (place: number, seq: number): number => {
    const block = blocks++;
    if (blocks > mostSlots >>> blockBits)
      throw new RangeError("An owner's messages are too many to be held.");
    lengths = withRoom(lengths, blocks << blockBits);
    blockThreads = withRoom(blockThreads, blocks);
    blockSeqs = withRoom(blockSeqs, blocks);
    blockThreads[block] = place;
    blockSeqs[block] = seq - (seq & (blockSlots - 1));
    return block;
  };
  const take = (place: number, [seq, length, lexemes, frequencies, names]: HeldMessageWords): void => {
    for (const name of names) speakers.add(name);
    if (length === 0) return;
    const slot = slotOf(place, seq);
    if (lengths[slot] !== 0) return;
    lengths[slot] = length;
    for (const [index, lexeme] of lexemes.entries()) words.add(lexeme, slot, frequencies[index] as number);
  };
  return {
    apply(rows) {
      for (const row of rows) {
        const place = placeOf(row);
        const thread = threads[place] as ThreadBlocks;
        thread.size = Math.max(thread.size, row.size);
        for (const message of row.messages) take(place, message);
      }
    },
    found: words.found,
    hasSpeaker: (word) => speakers.has(word),
    postings: words.of,
    get slots() {
      return blocks << blockBits;
    },
    get lengths() {
      return lengths;
    },
    threadAt: (slot) => blockThreads[slot >>> blockBits] as number,
    seqAt: (slot) => (blockSeqs[slot >>> blockBits] as number) + (slot & (blockSlots - 1)),
    threads,
    get bytes() {
      const columns = lengths.byteLength + blockThreads.byteLength + blockSeqs.byteLength;
      return words.bytes + columns + 8 * blocks + threads.length * threadBytes + speakers.size * speakerBytes;
    },
  };
}
