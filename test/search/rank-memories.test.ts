import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryItem } from "../../src/memories/item/memory.js";
import {
  type MemoryCandidate,
  rankMemories,
  withRelated,
} from "../../src/search/rank-memories.rule.js";
import { floors, retrievalWeights } from "../../src/search/retrieval-options.js";
import { forAll } from "../support/for-all.js";
import { memoryItem } from "../support/memory-item.js";

const now = new Date("2024-06-01T00:00Z");
const signals = (
  id: string,
  fields: Partial<MemoryCandidate> = {},
  of: Partial<MemoryItem> = {},
): MemoryCandidate => ({
  memory: memoryItem(now, { id, ...of }),
  words: 0.4,
  source: 0,
  cosine: null,
  hasIdentifier: false,
  relation: 0,
  linked: [],
  ...fields,
});
const question = {
  spans: [],
  isNamed: () => false,
  now,
  threshold: 0,
  floorFactor: 1,
  vector: null,
};
const ids = (
  candidates: readonly MemoryCandidate[],
  asked: Partial<Parameters<typeof rankMemories>[1]> = {},
) => rankMemories(candidates, { ...question, ...asked }).map((hit) => hit.memory.id);

describe("rankMemories", () => {
  it.each<[string, Partial<MemoryCandidate>, Partial<MemoryItem>]>([
    ["better words", { words: 0.5 }, {}],
    ["a fitting source", { source: 0.3 }, {}],
    ["an identifier of the question", { hasIdentifier: true }, {}],
    ["a link to another hit", { relation: 0.8 }, {}],
    ["the named actor", {}, { actorId: "Ben" }],
    ["the named date", {}, { validFrom: new Date("2023-05-09") }],
    ["importance", {}, { importance: 5 }],
    ["freshness", {}, { updatedAt: new Date(now.getTime() + 1) }],
  ])("rankMemories ranks %s first", (_, fields, of) => {
    const old = { updatedAt: new Date("2024-01-01") };
    const better = signals("better", fields, { ...old, ...of });
    const spans = [{ from: new Date("2023-05-01"), before: new Date("2023-06-01") }];
    const asked = { spans, isNamed: (actor: string) => actor === "Ben" };
    expect(ids([signals("plain", {}, old), better], asked)).toEqual(["better", "plain"]);
  });

  it("rankMemories orders memories that match only the date by named actor, then the later first", () => {
    const day = { validFrom: new Date("2023-05-09T09:00Z"), actorId: "Ben" };
    const told = (id: string, seq: number, of: Partial<MemoryItem> = {}) =>
      signals(id, { words: 0 }, { ...day, source: { threadId: "t", seqs: [seq] }, ...of });
    const spans = [{ from: new Date("2023-05-09"), before: new Date("2023-05-10") }];
    const asked = { spans, isNamed: (actor: string) => actor === "Ben", threshold: undefined };
    const all = [
      told("other", 0, { actorId: "Ana" }),
      told("later", 8),
      told("first", 2),
      told("another time", 1, { validFrom: new Date("2023-07-01") }),
    ];
    expect(ids(all, asked)).toEqual(["later", "first", "other"]);
    const [hit] = rankMemories(all, { ...question, ...asked });
    expect(hit).toMatchObject({
      similarity: 0.3,
      reason: "said by who is asked about, of the time asked about",
    });
  });

  it("rankMemories gives the maximum of cosine and lexical score as similarity", () => {
    const similarityOf = (fields: Partial<MemoryCandidate>) =>
      rankMemories([signals("one", fields)], question)[0]?.similarity;
    expect(similarityOf({ words: 0, cosine: 0.7 })).toBe(0.7);
    expect(similarityOf({ words: 1 / 2.2, cosine: 0.7 })).toBeCloseTo(1);
    expect(similarityOf({ words: 0, source: 1 })).toBe(0);
    expect(similarityOf({ words: 1, cosine: 1, source: 1 })).toBe(1);
  });

  it("rankMemories gives the reason of each hit", () => {
    const reasonOf = (fields: Partial<MemoryCandidate>, names = false) =>
      rankMemories([signals("one", fields, { actorId: "Ana" })], {
        ...question,
        isNamed: () => names,
      })[0]?.reason;
    expect(reasonOf({})).toBe("same words");
    expect(reasonOf({ words: 0, cosine: 0.8 })).toBe("similar meaning");
    expect(reasonOf({ source: 0.2, relation: 0.5 }, true)).toBe(
      "same words, said in a fitting context, linked to another candidate, said by who is asked about",
    );
    expect(reasonOf({ words: 0, cosine: 0.2 })).toBe("weakly similar");
  });

  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const candidates = fc
    .array(
      fc.record({
        words: share,
        source: share,
        hasIdentifier: fc.boolean(),
        cosine: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
        relation: share,
      }),
      { maxLength: 12 },
    )
    .map((all) => all.map((fields, index) => signals(String(index), fields)));

  it("rankMemories returns finite, sorted scores and similarities within 0 and 1, cut by the threshold only", () =>
    forAll(candidates, share, (all, threshold) => {
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
    }));

  it("rankMemories never ranks a memory lower for a better match", () =>
    forAll(
      candidates.filter((all) => all.length > 1),
      share,
      (all, more) => {
        const [first, ...others] = all as [MemoryCandidate, ...MemoryCandidate[]];
        const better = { ...first, words: first.words + more };
        expect(ids([better, ...others]).indexOf("0")).toBeLessThanOrEqual(ids(all).indexOf("0"));
      },
    ));
});

describe("what fits", () => {
  const fits = (all: readonly MemoryCandidate[], of: object = {}) =>
    ids(all, { threshold: undefined, ...of });
  const { best } = floors.byWords;
  const share = (of: number) => of / (1 + retrievalWeights.k1);
  const good = signals("good", { words: share(best + 0.05) }, { importance: 1 });
  const vector = { space: { unrelated: { mean: 0.36, spread: 0.06 } } };

  it("Nothing fits if the best hit is weak; beside a good one, hits with much less are noise", () => {
    const weak = [signals("weak", { words: share(best - 0.01) })];
    expect(fits(weak)).toEqual([]);
    expect(fits(weak, { threshold: 0.1 })).toEqual(["weak"]);
    expect(fits([good, ...weak])).toEqual(["good", "weak"]);
    const noise = signals("noise", { words: share(0.2) });
    expect(fits([signals("good", { words: share(1) }), noise])).toEqual(["good"]);
  });

  it("A source message with the words shows a memory beside others, never alone", () => {
    const heard = signals("heard", { words: 0, source: 0.4 });
    expect(fits([heard])).toEqual([]);
    expect(fits([heard, signals("own")])).toEqual(["own", "heard"]);
  });

  it("Where its vector is not alike, a memory needs most of the question's words", () => {
    const unalike = { cosine: 0.35, words: share(floors.besideVector.best - 0.01) };
    expect(fits([signals("some", unalike)], { vector })).toEqual([]);
    expect(fits([signals("most", { ...unalike, words: share(0.8) })], { vector })).toEqual([
      "most",
    ]);
    expect(fits([signals("alike", { cosine: 0.6, words: 0 })], { vector })).toEqual(["alike"]);
    expect(fits([signals("new", { ...unalike, cosine: null })], { vector })).toEqual(["new"]);
  });

  it("A long text needs less of words and of vectors", () => {
    const part = [signals("words", { words: share(0.5 * best + 0.01) })];
    expect([fits(part), fits(part, { floorFactor: 0.5 })]).toEqual([[], ["words"]]);
    const near = [signals("vector", { words: 0, cosine: 0.5 })];
    expect([fits(near, { vector }), fits(near, { vector, floorFactor: 0.5 })]).toEqual([
      [],
      ["vector"],
    ]);
  });

  it("A long text needs less of words beside the best hit as well", () => {
    // Important and linked, so that its score is no noise.
    const few = { words: share(0.75 * floors.byWords.each), relation: 1 };
    const all = [good, signals("beside", few, { importance: 5 })];
    expect([fits(all), fits(all, { floorFactor: 0.5 })]).toEqual([["good"], ["good", "beside"]]);
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

it("withRelated adds at most two new memories, each once, to the first hit that links to it", () =>
  forAll(someIds, fc.array(fc.tuple(someId, someIds)), someIds, (ids, links, known) => {
    const linked = new Map(links.map(([id, to]) => [id, to.map(item)]));
    const candidates = [...linked].map(([id, linked]) => ({ memory: item(id), linked }));
    const told = withRelated(
      ids.map((id) => ({ memory: item(id) })),
      candidates,
      known.map(item),
    );
    expect(told.map(({ memory }) => memory.id)).toEqual(ids);
    const news = told.flatMap(({ related = [] }) => related.map(({ id }) => id));
    expect(new Set(news).size).toBe(news.length);
    const taken = [...ids, ...known];
    for (const id of news) expect(taken).not.toContain(id);
    const all = new Set(ids.flatMap((id) => linked.get(id) ?? []).map(({ id }) => id));
    const free = [...all].filter((id) => !taken.includes(id));
    expect(news.length).toBe(Math.min(2, free.length));
  }));
