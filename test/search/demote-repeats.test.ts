import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryItem, MemoryKind } from "../../src/memories/item/memory.js";
import { demoteRepeats } from "../../src/search/rank-memories.rule.js";

interface Told {
  readonly id: string;
  readonly score: number;
  readonly seqs?: readonly number[] | undefined;
  readonly kind?: MemoryKind;
  readonly key?: string | null;
  readonly threadId?: string;
}
const hit = ({ id, score, seqs, kind = "fact", key = null, threadId = "t" }: Told) => ({
  score,
  memory: { id, kind, key, source: seqs === undefined ? null : { threadId, seqs } } as MemoryItem,
});
const order = (...told: Told[]) => demoteRepeats(told.map(hit)).map(({ memory }) => memory.id);

describe("demoteRepeats", () => {
  it("lets others go before a second fact from the same turn, unless they fit far worse", () => {
    const [first, second] = [
      { id: "first", score: 1, seqs: [4] },
      { id: "second", score: 0.9, seqs: [4] },
    ];
    expect(order(first, second, { id: "other", score: 0.8, seqs: [5] })).toEqual([
      "first",
      "other",
      "second",
    ]);
    expect(order(first, second, { id: "far", score: 0.3, seqs: [5] })).toEqual(["first", "second", "far"]);
  });

  it.each<[string, Partial<Told>]>([
    ["has another turn besides", { seqs: [4, 6] }],
    ["was learned in another thread", { threadId: "u" }],
    ["has no source", { seqs: undefined }],
    ["has a source without turns", { seqs: [] }],
    ["is a slot", { key: "city" }],
    ["is of another kind", { kind: "episode" }],
  ])("takes for no repeat what %s", (_, fields) => {
    const told: Told = { id: "second", score: 0.9, seqs: [4], ...fields };
    expect(order({ id: "first", score: 1, seqs: [4] }, told, { id: "other", score: 0.8, seqs: [5] })).toEqual(
      ["first", "second", "other"],
    );
  });

  it("takes for a repeat what several better hits have said together", () => {
    const parts = [
      { id: "a", score: 1, seqs: [1] },
      { id: "b", score: 0.9, seqs: [2] },
    ];
    expect(
      order(...parts, { id: "both", score: 0.8, seqs: [1, 2] }, { id: "c", score: 0.7, seqs: [3] }),
    ).toEqual(["a", "b", "c", "both"]);
  });

  it("keeps every hit, the best first, the scores in order, and what is new in its order", () => {
    const told = fc.array(
      fc.record({
        score: fc.double({ min: 0.01, max: 1, noNaN: true }),
        seqs: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
      }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(told, (all) => {
        const hits = all
          .map((fields, index) => hit({ id: String(index), ...fields }))
          .toSorted((first, second) => second.score - first.score);
        const ordered = demoteRepeats(hits);
        const ids = (of: typeof hits) => of.map(({ memory }) => memory.id);
        expect(ids(ordered).toSorted()).toEqual(ids(hits).toSorted());
        expect(ordered[0]).toEqual(hits[0]);
        const scores = ordered.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((first, second) => second - first));
        const before = new Map(hits.map(({ memory, score }) => [memory.id, score]));
        const kept = ordered.filter(({ memory, score }) => before.get(memory.id) === score);
        const ranks = kept.map(({ memory }) => hits.findIndex((other) => other.memory.id === memory.id));
        expect(ranks).toEqual(ranks.toSorted((first, second) => first - second));
      }),
    );
  });
});
