import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { categoryPolicy } from "../../../src/memories/item/category.rule.js";
import {
  choosePairs,
  mayBeOne,
  mayMerge,
  type StoredPair,
} from "../../../src/reflection/consolidation/choose-pairs.rule.js";
import type { PairVote } from "../../../src/reflection/consolidation/pair-votes.rule.js";
import {
  needsVote,
  nextToAsk,
  pairVerdicts,
  verdictOf,
} from "../../../src/reflection/consolidation/pair-votes.rule.js";
import { forAll } from "../../support/for-all.js";
import { day, memories, stored } from "./stored-memories.js";

const policy = categoryPolicy(undefined, undefined);
const rules = { policy, minSimilarity: () => 0.5, since: day(5) };

/** Each memory with each other, some in both directions. */
const near = memories(6).chain((all) => {
  const pairs = all.flatMap((first) => all.map((second) => ({ first, second })));
  return fc
    .tuple(...pairs.map(() => fc.double({ min: 0, max: 1, noNaN: true })))
    .map((similarities) =>
      pairs.map((pair, at): StoredPair => ({ ...pair, similarity: similarities[at] ?? 0 })),
    );
});

describe("pairs", () => {
  it("Chosen pairs are of one kind, app, state and slot family, and changed recently", () =>
    forAll(near, (given) => {
      for (const { first, second, similarity } of choosePairs(given, rules)) {
        expect(first.ref).toBeLessThan(second.ref);
        expect(second.kind).toBe(first.kind);
        expect(["fact", "insight"]).toContain(first.kind);
        expect(second.scope).toEqual(first.scope);
        expect([first.state, second.state]).toEqual(["active", "active"]);
        expect(
          Math.min(first.updatedAt.getTime(), second.updatedAt.getTime()),
        ).toBeGreaterThanOrEqual(day(5).getTime());
        expect(similarity).toBeGreaterThanOrEqual(0.5);
        if (first.actorId && second.actorId) expect(first.actorId).toBe(second.actorId);
        if (first.key && second.key)
          expect(first.key.split("_").at(-1)).toBe(second.key.split("_").at(-1));
      }
    }));

  it("Chosen pairs come once each, most similar first, in any order of the input", () =>
    forAll(near, fc.infiniteStream(fc.nat()), (given, keys) => {
      const chosen = choosePairs(given, rules);
      const names = chosen.map(({ first, second }) => `${first.ref} ${second.ref}`);
      expect(new Set(names).size).toBe(names.length);
      const falling = chosen.map(({ similarity }) => similarity);
      expect(falling).toEqual(falling.toSorted((one, other) => other - one));
      const shuffled = given
        .map((pair) => ({ pair, key: keys.next().value as number }))
        .toSorted((one, other) => one.key - other.key)
        .map(({ pair: { first, second, similarity } }) => ({
          first: second,
          second: first,
          similarity,
        }));
      expect(choosePairs(shuffled, rules)).toEqual(chosen);
    }));

  it.each([
    ["keys that name one thing", { key: "dog_name" }, { key: "name_of_the_dog" }, true],
    ["keys of two things", { key: "dog_name" }, { key: "cat_name" }, false],
    ["one key between them", { key: "dog_name" }, {}, true],
    ["keys that each have a word of their own", { key: "my_dog" }, { key: "dog_name" }, false],
    [
      "different dates",
      { text: "The user met the dog on Monday." },
      { text: "The user met the dog on Tuesday." },
      true,
    ],
    [
      "a negation",
      { text: "The user likes the dog." },
      { text: "The user does not like the dog." },
      true,
    ],
    [
      "different figures",
      { text: "The user pays 8,000 euros." },
      { text: "The user pays 9,500 euros." },
      true,
    ],
    ["two speakers", { actorId: "Ana" }, { actorId: "Bo" }, false],
    ["two apps", { scope: { userId: "ana", appId: "mail" } }, {}, false],
    ["two kinds", { kind: "insight" as const }, {}, false],
    ["two categories that all agents read", { category: "interests" }, {}, true],
  ])("Two memories with %s (%j and %j) may be compared: %s", (_, one, other, expected) => {
    const text = "The user likes the dog.";
    const [first, second] = [stored({ ref: 1, text, ...one }), stored({ ref: 2, text, ...other })];
    expect(mayBeOne(first, second, policy)).toBe(expected);
    expect(mayBeOne(second, first, policy)).toBe(expected);
  });

  it("Pairs merge only if their texts and values have the same figures", () => {
    const pays = (amount: string, value: string | null = null) =>
      stored({ ref: 1, text: `The user pays ${amount} euros.`, value });
    expect(mayMerge(pays("8,000"), pays("8.000"))).toBe(true);
    expect(mayMerge(pays("8,000"), pays("9,500"))).toBe(false);
    expect(mayMerge(pays("8,000", "8000"), pays("8,000", "9500"))).toBe(false);
    expect(mayMerge(pays("8,000", "8000"), pays("8,000"))).toBe(true);
  });

  it("Only memories of categories that the same agents read are compared", () => {
    const text = "The user likes the dog.";
    const [first, second] = [stored({ ref: 1, text, category: "goals" }), stored({ ref: 2, text })];
    const some = categoryPolicy(undefined, {
      planner: ["goals"],
      researcher: ["knowledge", "goals"],
    });
    const all = categoryPolicy(undefined, { planner: ["goals", "knowledge"] });
    expect(mayBeOne(first, second, some)).toBe(false);
    expect(mayBeOne(first, second, all)).toBe(true);
  });
});

const vote = fc
  .constantFrom(...pairVerdicts)
  .map((verdict): PairVote => ({ verdict, reason: verdict }));
const hides = ({ verdict }: PairVote) => verdict !== "related" && verdict !== "unrelated";

describe("votes", () => {
  /** What a model says until enough was said. */
  const asked = (said: readonly PairVote[]) => {
    const votes: PairVote[] = [];
    for (const each of said) if (needsVote(votes)) votes.push(each);
    return votes;
  };

  it("Votes hide a memory only by a majority of five, and link two only unanimously", () =>
    forAll(fc.array(vote, { minLength: 11, maxLength: 11 }), (said) => {
      const votes = asked(said);
      expect(needsVote(votes)).toBe(false);
      const found = verdictOf(votes);
      if (found.verdict === "related")
        expect(new Set(votes.map(({ verdict }) => verdict)).size).toBe(1);
      if (!hides(found)) return;
      const effect = ({ verdict }: PairVote) => (verdict === "same" ? "merge" : "close");
      const agreeing = votes.filter((each) => hides(each) && effect(each) === effect(found));
      expect(agreeing.length - (votes.length - agreeing.length)).toBe(5);
    }));

  /**
   * The chance that a judge merges two memories of whom it says "same" with this chance each time.
   */
  const chanceOfMerge = (same: number, votes: readonly PairVote[] = []): number => {
    if (!needsVote(votes)) return verdictOf(votes).verdict === "same" ? 1 : 0;
    const next = (verdict: PairVote["verdict"]) =>
      chanceOfMerge(same, [...votes, { verdict, reason: "" }]);
    return same * next("same") + (1 - same) * next("unrelated");
  };

  it("Votes of a judge with 90 % accuracy merge nearly all duplicates, and other pairs once in 60,000", () => {
    expect(chanceOfMerge(0.9)).toBeGreaterThan(0.97);
    expect(chanceOfMerge(0.1)).toBeLessThan(1 / 60_000);
  });

  it("nextToAsk asks for votes round by round up to the limit, and at the end only for begun pairs", () => {
    const open = (verdicts: readonly PairVote["verdict"][]) => ({
      votes: verdicts.map((verdict) => ({ verdict, reason: "" })),
    });
    const pairs = [
      open(["same"]),
      open([]),
      open(["related"]),
      open([]),
      open([]),
      open(["same", "related"]),
    ];
    expect(nextToAsk(pairs, 2, { begun: false })).toEqual([1, 3]);
    expect(nextToAsk(pairs, 9, { begun: true })).toEqual([0, 2]);
    const settled = [
      open(["related", "unrelated"]),
      open(["same", "same", "same", "same", "same"]),
      open(["same", "related", "related", "related"]),
    ];
    expect(nextToAsk(settled, 2, { begun: false })).toEqual([]);
  });
});
