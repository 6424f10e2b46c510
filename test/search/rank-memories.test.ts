import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryItem, MemoryKind } from "../../src/memories/item/memory.js";
import {
  aboveFloor,
  demoteRepeats,
  type MemorySignals,
  rankMemories,
  relatedTo,
} from "../../src/search/rank-memories.rule.js";
import { defaultFloor } from "../../src/search/retrieval-options.js";
import { memoryItem } from "../support/memory-item.js";

const now = new Date("2024-06-01T00:00Z");
const signals = (
  id: string,
  fields: Partial<MemorySignals> = {},
  of: Partial<MemoryItem> = {},
): MemorySignals => ({
  memory: memoryItem(now, { id, ...of }),
  lexical: 0.4,
  source: 0,
  thread: 0,
  similarity: null,
  relation: 0,
  ...fields,
});
const question = { dates: [], names: () => false, now, threshold: 0 };
const ids = (candidates: readonly MemorySignals[], asked: Partial<Parameters<typeof rankMemories>[1]> = {}) =>
  rankMemories(candidates, { ...question, ...asked }).map((hit) => hit.memory.id);

describe("rankMemories", () => {
  it.each<[string, Partial<MemorySignals>, Partial<MemoryItem>]>([
    ["better words", { lexical: 0.5 }, {}],
    ["a fitting source", { source: 0.3 }, {}],
    ["a fitting thread", { thread: 0.5 }, {}],
    ["a link to another hit", { relation: 0.8 }, {}],
    ["importance", {}, { importance: 5 }],
    ["freshness", {}, { updatedAt: new Date(now.getTime() + 1) }],
  ])("puts one with %s before an equal without", (_, fields, of) => {
    const old = { updatedAt: new Date("2024-01-01") };
    const better = signals("better", fields, { ...old, ...of });
    expect(ids([signals("plain", {}, old), better])).toEqual(["better", "plain"]);
  });

  it("puts memories of who is asked about and of a named date first among equals", () => {
    const ben = signals("ben", {}, { actorId: "Ben" });
    expect(ids([signals("plain"), ben], { names: (actor) => actor === "Ben" })).toEqual(["ben", "plain"]);
    const may = signals("may", {}, { validFrom: new Date("2023-05-09") });
    expect(ids([signals("plain"), may], { dates: [{ year: 2023, month: 5, day: null }] })).toEqual([
      "may",
      "plain",
    ]);
  });

  it("has first, of what shares only the time asked about, who is asked about, then what was told first", () => {
    const day = { validFrom: new Date("2023-05-09T09:00Z"), actorId: "Ben" };
    const told = (id: string, seq: number, of: Partial<MemoryItem> = {}) =>
      signals(id, { lexical: 0 }, { ...day, source: { threadId: "t", seqs: [seq] }, ...of });
    const asked = {
      dates: [{ year: 2023, month: 5, day: 9 }],
      names: (actor: string) => actor === "Ben",
      threshold: undefined,
    };
    const all = [
      told("other", 0, { actorId: "Ana" }),
      told("later", 8),
      told("first", 2),
      told("another time", 1, { validFrom: new Date("2023-07-01") }),
    ];
    expect(ids(all, asked)).toEqual(["first", "later", "other"]);
    const [hit] = rankMemories(all, { ...question, ...asked });
    expect(hit).toMatchObject({
      similarity: 0.3,
      reason: "about who is asked about, of the time asked about",
    });
  });

  it("has facts learned from the turn of a better hit after others that fit as well", () => {
    const from = (id: string, lexical: number, seq: number) =>
      signals(id, { lexical }, { source: { threadId: "t", seqs: [seq] } });
    expect(ids([from("best", 0.5, 3), from("repeat", 0.45, 3), from("other", 0.4, 7)])).toEqual([
      "best",
      "other",
      "repeat",
    ]);
  });

  it("orders by how far vectors stand out from what is unrelated in their space", () => {
    const of = (far: number, near: number) => [
      signals("far", { lexical: 0.1, similarity: far }),
      signals("near", { lexical: 0, similarity: near }),
    ];
    expect(ids(of(0.1, 0.5), { unrelated: { mean: 0.1, spread: 0.05 } })).toEqual(["near", "far"]);
    expect(ids(of(0.72, 0.82), { unrelated: { mean: 0.7, spread: 0.02 } })).toEqual(["near", "far"]);
    expect(ids(of(0.5, 0.5))).toEqual(["far", "near"]);
    // Vectors that are all alike say nothing, however little sets them apart.
    expect(ids(of(0.44, 0.46), { unrelated: { mean: 0.4, spread: 0.02 } })).toEqual(["far", "near"]);
  });

  it("has as similarity the greatest of cosine, share of words, and most of the source's share", () => {
    const similarityOf = (fields: Partial<MemorySignals>) =>
      rankMemories([signals("one", fields)], question)[0]?.similarity;
    expect(similarityOf({ lexical: 0, similarity: 0.7 })).toBe(0.7);
    expect(similarityOf({ lexical: 1 / 2.2, similarity: 0.7 })).toBeCloseTo(1);
    expect(similarityOf({ lexical: 0, source: 1 / 1.6, worded: true })).toBeCloseTo(0.8);
    expect(similarityOf({ lexical: 1, similarity: 1, source: 1 })).toBe(1);
  });

  it("says why each was found", () => {
    const reasonOf = (fields: Partial<MemorySignals>, names = false) =>
      rankMemories([signals("one", fields, { actorId: "Ana" })], { ...question, names: () => names })[0]
        ?.reason;
    expect(reasonOf({})).toBe("same words");
    expect(reasonOf({ lexical: 0, similarity: 0.8 })).toBe("similar meaning");
    expect(reasonOf({ source: 0.2, relation: 0.5 }, true)).toBe(
      "same words, said in a fitting context, linked to another hit, about who is asked about",
    );
    expect(reasonOf({ lexical: 0, similarity: 0.2 })).toBe("weakly similar");
  });

  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const candidates = fc
    .array(
      fc.record({
        lexical: share,
        source: share,
        thread: share,
        similarity: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
        relation: share,
      }),
      { maxLength: 12 },
    )
    .map((all) => all.map((fields, index) => signals(String(index), fields)));

  it("gives finite scores in order, similarities within 0 and 1, and cuts by the threshold alone", () => {
    fc.assert(
      fc.property(candidates, share, (all, threshold) => {
        const hits = rankMemories(all, question);
        expect(hits.length).toBe(all.length);
        for (const { score, similarity } of hits) {
          expect(Number.isFinite(score)).toBe(true);
          expect(similarity).toBeGreaterThanOrEqual(0);
          expect(similarity).toBeLessThanOrEqual(1);
        }
        const scores = hits.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((first, second) => second - first));
        expect(rankMemories(all, { ...question, threshold })).toEqual(
          hits.filter(({ similarity }) => similarity >= threshold),
        );
      }),
    );
  });

  it("never lowers a memory for fitting the question better", () => {
    fc.assert(
      fc.property(
        candidates.filter((all) => all.length > 1),
        share,
        (all, more) => {
          const [first, ...others] = all as [MemorySignals, ...MemorySignals[]];
          const better = { ...first, lexical: first.lexical + more };
          expect(ids([better, ...others]).indexOf("0")).toBeLessThanOrEqual(ids(all).indexOf("0"));
        },
      ),
    );
  });
});

describe("aboveFloor", () => {
  it("by default leaves nothing when even the best is hardly alike, else nearly all", () => {
    const { best, each } = defaultFloor;
    expect(aboveFloor([{ similarity: best - 0.01 }, { similarity: each }], undefined)).toEqual([]);
    const some = [{ similarity: each }, { similarity: best }, { similarity: each - 0.01 }];
    expect(aboveFloor(some, undefined)).toEqual(some.slice(0, 2));
    expect(aboveFloor([], undefined)).toEqual([]);
    expect(aboveFloor([{ similarity: 0 }], 0)).toEqual([{ similarity: 0 }]);
  });

  it("goes by evidence where that is less than similarity, but for a threshold", () => {
    const all = [{ similarity: 0.7, evidence: 0 }];
    expect(aboveFloor(all, undefined)).toEqual([]);
    expect(aboveFloor(all, 0.6)).toEqual(all);
    expect(aboveFloor([{ similarity: 0.7, evidence: 0.1 }, ...all], undefined)).toHaveLength(1);
  });
});

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

const someId: fc.Arbitrary<string> = fc.constantFrom(
  "a",
  "b",
  "c",
  "d",
  "e",
  "f",
  "constructor",
  "__proto__",
);
const item = (id: string) => ({ id }) as MemoryItem;
const someIds = fc.uniqueArray(someId, { maxLength: 6 });

it("tells two memories at most, each once, beside the first hit that is linked to it, and none that is known", () => {
  fc.assert(
    fc.property(someIds, fc.array(fc.tuple(someId, someIds)), someIds, (hits, links, known) => {
      const linked = new Map(links.map(([id, to]) => [id, to.map(item)]));
      const told = relatedTo(
        hits.map((id) => ({ memory: item(id) })),
        linked,
        known.map(item),
      );
      expect(told.map(({ hit }) => hit.memory.id)).toEqual(hits);
      const news = told.flatMap(({ memories }) => memories.map(({ id }) => id));
      expect(new Set(news).size).toBe(news.length);
      for (const id of news) expect([...hits, ...known]).not.toContain(id);
      const all = new Set(hits.flatMap((id) => linked.get(id) ?? []).map(({ id }) => id));
      const free = [...all].filter((id) => ![...hits, ...known].includes(id));
      expect(news.length).toBe(Math.min(2, free.length));
    }),
  );
});
