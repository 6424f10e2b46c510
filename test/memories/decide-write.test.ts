import { describe, expect, it } from "vitest";
import { versionOf } from "../../src/memories/item/memory-fields.js";
import { absorbed, decideWrite } from "../../src/memories/write/decide-write.rule.js";
import type { ExistingMemory, RankedMemory } from "../../src/memories/write/statement.js";
import { memoryItem } from "../support/memory-item.js";

const known = (
  relation: ExistingMemory["relation"],
  fields: Partial<ExistingMemory> = {},
): ExistingMemory => ({
  ...versionOf(memoryItem(new Date("2025-01-01"))),
  relation,
  ref: 1,
  id: relation,
  kind: "fact",
  category: "preferences",
  keyed: relation === "slot",
  text: "The user likes tea.",
  actorId: null,
  seenCount: 1,
  origin: "user",
  trust: "user",
  confidence: 0.9,
  turn: 1,
  rank: 3,
  validFrom: new Date("2025-01-01"),
  validTo: null,
  assertedAt: new Date("2025-01-01"),
  expired: false,
  similarity: relation === "near" ? 0.9 : 1,
  ...fields,
});
const told = (fields: Partial<RankedMemory> = {}): RankedMemory => ({
  scope: { userId: "ana" },
  kind: "fact",
  category: "preferences",
  text: "The user enjoys tea.",
  contentHash: "tea",
  terms: "tea",
  quarantined: false,
  pinned: false,
  tags: [],
  importance: 3,
  origin: "user",
  trust: "user",
  confidence: 0.9,
  turn: 2,
  rank: 3,
  correction: false,
  metadata: {},
  now: new Date("2025-06-01"),
  ...fields,
});
const decide = (said: RankedMemory, ...others: ExistingMemory[]) => decideWrite(said, others);

describe("new memories", () => {
  it("A new memory is created if there are no existing ones", () =>
    expect(decide(told())).toEqual({ action: "create" }));

  it("A memory with a key absorbs its statement without one, and merges into that of another slot", () => {
    const city = told({ key: "city", value: "Rome" });
    expect(decide(city, known("same"))).toEqual({ action: "create" });
    expect(decide(city, known("slot", { value: "Porto" }), known("same"))).toEqual({
      action: "replace",
      id: "slot",
    });
    expect(absorbed([known("slot"), known("same"), known("near")])).toMatchObject({ id: "same" });
    expect(absorbed([known("slot"), known("same", { keyed: true })])).toBeUndefined();
    const elsewhere = known("same", { keyed: true });
    expect(decide(city, known("slot", { value: "Porto" }), elsewhere)).toMatchObject({
      action: "touch",
      id: "same",
    });
  });
});

describe("memories that a model ends", () => {
  const statement = told({ text: "The user cannot stand tea." });
  const ends = (
    target: Partial<ExistingMemory>,
    said = statement,
    relation: "ends" | "updates" = "ends",
  ) => decideWrite(said, [known("target", target)], { relation, target: "target" }).action;

  it("A memory that the model ends is closed unless it is pinned or of a higher rank", () => {
    expect(ends({})).toBe("replace");
    expect(ends({ pinned: true })).toBe("create");
    expect(ends({ rank: 4 })).toBe("create");
  });

  it("A slot that the model ends is closed only by a confident enough value of the same slot", () => {
    expect(ends({ keyed: true, confidence: 0.8 })).toBe("replace");
    expect(ends({ keyed: true, confidence: 1 })).toBe("create");
    expect(ends({ keyed: true, confidence: 1 }, { ...statement, correction: true })).toBe(
      "replace",
    );
    expect(ends({ keyed: true }, told({ key: "drink" }))).toBe("create");
    expect(ends({}, told({ key: "drink" }))).toBe("replace");
    expect(ends({ keyed: true }, statement, "updates")).toBe("create");
  });
});
