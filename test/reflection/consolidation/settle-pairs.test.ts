import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../../src/config.js";
import { categoryPolicy } from "../../../src/memories/item/category.rule.js";
import {
  mayBeOne,
  mayMerge,
  type StoredMemory,
} from "../../../src/reflection/consolidation/choose-pairs.rule.js";
import { pairVerdicts } from "../../../src/reflection/consolidation/pair-votes.rule.js";
import {
  type JudgedPair,
  settlePairs,
} from "../../../src/reflection/consolidation/settle-pairs.rule.js";
import { forAll } from "../../support/for-all.js";
import { day, memories, stored } from "./stored-memories.js";

const policy = categoryPolicy(undefined, undefined);
const { consent } = resolveConfig({});
const rules = { policy, consent, turns: 10, now: day(30) };

const judged = (
  first: StoredMemory,
  second: StoredMemory,
  verdict: JudgedPair["vote"]["verdict"],
  similarity = 0.9,
): JudgedPair => ({
  first,
  second,
  similarity,
  linked: false,
  changed: false,
  vote: { verdict, reason: "" },
});
const settle = (...pair: Parameters<typeof judged>) => settlePairs([judged(...pair)], rules)[0];

/** Judged pairs among memories of one owner, whatever a model may say of them. */
const runs = memories(6).chain((all) => {
  const pairs = all.flatMap((first, at) => all.slice(at + 1).map((second) => ({ first, second })));
  return fc
    .tuple(
      ...pairs.map(() =>
        fc.tuple(fc.constantFrom(...pairVerdicts), fc.double({ min: 0.5, max: 1, noNaN: true })),
      ),
    )
    .map((said) =>
      pairs.map(({ first, second }, at) => {
        const [verdict, similarity] = said[at] ?? ["unrelated" as const, 0.5];
        return judged(first, second, verdict, similarity);
      }),
    );
});

describe("verdicts of a model", () => {
  it("No verdicts of a model remove a distinguishable, higher-ranked or pinned memory", () =>
    forAll(runs, (pairs) => {
      const effects = settlePairs(pairs, rules);
      for (const effect of effects) {
        if (effect.action !== "merge" && effect.action !== "close") continue;
        expect(mayBeOne(effect.kept, effect.gone, policy)).toBe(true);
        expect(effect.kept.rank).toBeGreaterThanOrEqual(effect.gone.rank);
        if (effect.action === "close") expect(effect.gone.pinned).toBe(false);
        else expect(mayMerge(effect.kept, effect.gone)).toBe(true);
      }
    }));

  it("No verdicts of a model remove a memory twice or merge into a removed one", () =>
    forAll(runs, (pairs) => {
      const moved = settlePairs(pairs, rules).flatMap((effect) =>
        "gone" in effect ? [effect] : [],
      );
      const gone = moved.map((effect) => effect.gone.id);
      expect(new Set(gone).size).toBe(gone.length);
      const merged = moved.filter(({ action }) => action === "merge");
      const lasting = new Set(merged.map((effect) => effect.gone.id));
      for (const { kept } of merged) expect(lasting.has(kept.id) && kept.ref < 0).toBe(false);
    }));
});

describe("memories that say the same", () => {
  const text = "The user likes the dog.";
  const longer = "The user likes the dog very much.";

  it.each([
    [
      "the user's own words stay before inferred ones",
      { rank: 3 },
      { rank: 1, text: longer, pinned: true },
    ],
    ["the pinned one stays", { pinned: true }, { text: longer }],
    ["the one in a slot stays", { key: "pet" }, { text: longer }],
    ["the one that says more stays", { text: longer }, {}],
    ["the one that was said more often stays", { seenCount: 3 }, {}],
  ])("Of two memories that say the same, %s", (_, better, other) => {
    const [kept, gone] = [stored({ ref: 2, text, ...better }), stored({ ref: 1, text, ...other })];
    expect(settle(gone, kept, "same")).toMatchObject({ action: "merge", kept, gone });
    expect(settle(kept, gone, "same")).toMatchObject({ action: "merge", kept, gone });
  });

  it("Two memories that say the same stay two if the one to remove holds a slot", () => {
    const [mine, slot] = [
      stored({ ref: 1, text, rank: 3 }),
      stored({ ref: 2, text, rank: 1, key: "pet" }),
    ];
    expect(settle(mine, slot, "same")).toEqual({ action: "none", why: "slot" });
  });
});

describe("contradicting memories", () => {
  const [searching, found] = ["The user is looking for a flat.", "The user rents a flat."];
  const earlier = stored({ ref: 1, text: searching, validFrom: day(1) });
  const later = stored({ ref: 2, text: found, validFrom: day(4) });

  it.each(["updates", "contradicts"] as const)(
    "The later of two contradicting memories closes the earlier (%s)",
    (verdict) => {
      const expected = {
        action: "close",
        kept: later,
        gone: earlier,
        validTo: day(4),
        split: null,
      };
      expect(settle(earlier, later, verdict)).toEqual(expected);
      expect(settle(later, earlier, verdict)).toEqual(expected);
    },
  );

  it("The user's own statement is kept over a later inferred contradiction", () => {
    const inferred = { ...later, rank: 1 };
    expect(settle(earlier, inferred, "updates")).toMatchObject({
      action: "close",
      kept: earlier,
      gone: inferred,
    });
  });

  it("An earlier memory that is repeated after its contradiction continues", () => {
    const again = { ...earlier, assertedAt: day(9) };
    expect(settle(again, later, "contradicts")).toMatchObject({
      action: "close",
      kept: again,
      gone: later,
      validTo: day(9),
      split: { id: again.id, until: day(4), from: day(9) },
    });
    expect(settle({ ...again, rank: 1 }, later, "contradicts")).toEqual({
      action: "none",
      why: "believed",
    });
  });

  it("A contradiction closes nothing that is pinned, sensitive or in another slot", () => {
    const none = (why: string) => ({ action: "none", why });
    expect(settle({ ...earlier, pinned: true }, later, "updates")).toEqual(none("pinned"));
    expect(settle({ ...earlier, key: "home" }, later, "updates")).toEqual(none("slot"));
    const [one, other] = [
      { ...earlier, key: "pronouns" },
      { ...later, key: "pronouns_of_the_user" },
    ];
    expect(settle(one, other, "updates")).toEqual(none("consent"));
  });
});
