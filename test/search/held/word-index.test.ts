import fc from "fast-check";
import { expect, it } from "vitest";
import { besideIn, numberIn, pairLists, pairOf } from "../../../src/search/held/pair-lists.rule.js";
import { wordIndex } from "../../../src/search/held/word-index.rule.js";

const words = ["tea", "lamp", "boat", "@ana", "", "__proto__"];

/** What an index has, in any order. */
function textsOf(index: ReturnType<typeof wordIndex>) {
  return words.map((word) => {
    const texts = [...index.textsWith(word)].map((pair) => [numberIn(pair), besideIn(pair)]);
    expect(texts).toHaveLength(index.found(word));
    return texts.sort(([first = 0], [second = 0]) => first - second);
  });
}

it("an index of words has what was put last, whatever was put and cleared before", () => {
  const text = fc.uniqueArray(fc.tuple(fc.constantFrom(...words), fc.integer({ min: 1, max: 300 })), {
    selector: ([word]) => word,
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(12), fc.option(text))), (changes) => {
      const index = wordIndex();
      const kept = new Map<number, readonly (readonly [string, number])[]>();
      for (const [slot, put] of changes) {
        if (put === null) index.clear(slot);
        else
          index.put(
            slot,
            put.map(([word]) => word),
            put.map(([, count]) => count),
          );
        kept.set(slot, put ?? []);
      }
      const expected = words.map((word) =>
        [...kept]
          .flatMap(([slot, text]) =>
            text.filter(([each]) => each === word).map(([, count]) => [slot, Math.min(count, 255)]),
          )
          .sort(([first = 0], [second = 0]) => first - second),
      );
      expect(textsOf(index)).toEqual(expected);
    }),
  );
});

it("rooms that lists leave are taken by others: what comes and goes does not grow", () => {
  const lists = pairLists();
  const fill = () => {
    for (let list = 0; list < 50; list++) {
      for (let number = 0; number <= list; number++) lists.push(list, pairOf(number, 1));
    }
    for (let list = 0; list < 50; list++) {
      for (let number = 0; number <= list; number++) lists.take(list, number);
    }
  };
  fill();
  const { pairs } = lists;
  for (let round = 0; round < 20; round++) fill();
  expect(lists.pairs).toHaveLength(pairs.length);
  expect(Array.from({ length: 50 }, (_, list) => lists.size(list)).every((size) => size === 0)).toBe(true);
});

it("numbers up to the most there may be keep apart from what is beside them", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 24 - 1), fc.nat(255), (number, beside) => {
      const pair = pairOf(number, beside);
      expect([numberIn(pair), besideIn(pair)]).toEqual([number, beside]);
    }),
  );
});
