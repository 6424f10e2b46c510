import { numberIn, pairLists, pairOf } from "./pair-lists.rule.js";

/** Which texts have which words, and how often. A text is a slot, a number. */
export interface WordIndex {
  /** Puts the words of a text in place of those it had. */
  put(slot: number, words: readonly string[], frequencies: readonly number[]): void;
  clear(slot: number): void;
  /** How many texts have the word. */
  found(word: string): number;
  /** Those texts, a pair each of slot and frequency; to be read before the next change. */
  textsWith(word: string): Uint32Array;
  readonly bytes: number;
}

const none = new Uint32Array(0);

/** What a word takes beside its characters: its string's head, and its places in a map and a list. */
const wordBytes = 80;

/** No texts. */
export function wordIndex(): WordIndex {
  const ids = new Map<string, number>();
  /** By id; of an id that is not used, "". */
  const words: string[] = [];
  const unused: number[] = [];
  const texts = pairLists();
  const wordsOf = pairLists();
  let characters = 0;

  const idOf = (word: string): number => {
    const known = ids.get(word);
    if (known !== undefined) return known;
    const id = unused.pop() ?? words.length;
    words[id] = word;
    ids.set(word, id);
    characters += word.length;
    return id;
  };
  const forget = (id: number) => {
    const word = words[id] as string;
    ids.delete(word);
    words[id] = "";
    unused.push(id);
    characters -= word.length;
  };
  const hasWords = (slot: number, pairs: readonly number[]): boolean => {
    if (wordsOf.size(slot) !== pairs.length) return false;
    const start = wordsOf.start(slot);
    return pairs.every((pair, at) => wordsOf.pairs[start + at] === pair);
  };
  const clear = (slot: number) => {
    const [start, size] = [wordsOf.start(slot), wordsOf.size(slot)];
    for (let at = start; at < start + size; at++) {
      const id = numberIn(wordsOf.pairs[at] as number);
      texts.take(id, slot);
      if (texts.size(id) === 0) forget(id);
    }
    wordsOf.clear(slot);
  };
  return {
    put(slot, its, frequencies) {
      const pairs = its.map((word, at) => pairOf(idOf(word), frequencies[at] as number));
      // Most changes of a memory leave its words alone.
      if (hasWords(slot, pairs)) return;
      const before = wordsOf.size(slot) > 0;
      if (before) clear(slot);
      // What was forgotten with its last text has another id from here on.
      const kept = before ? its.map((word, at) => pairOf(idOf(word), frequencies[at] as number)) : pairs;
      for (const [at, pair] of kept.entries()) {
        texts.push(numberIn(pair), pairOf(slot, frequencies[at] as number));
      }
      wordsOf.fill(slot, kept);
    },
    clear,
    found(word) {
      const id = ids.get(word);
      return id === undefined ? 0 : texts.size(id);
    },
    textsWith(word) {
      const id = ids.get(word);
      if (id === undefined) return none;
      const start = texts.start(id);
      return texts.pairs.subarray(start, start + texts.size(id));
    },
    get bytes() {
      return texts.bytes + wordsOf.bytes + wordBytes * words.length + characters;
    },
  };
}
