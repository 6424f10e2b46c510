import { describe, expect, it } from "vitest";
import { versionOf } from "../../src/memories/item/memory-fields.js";
import { absorbed, decideWrite } from "../../src/memories/write/decide-write.rule.js";
import type { KnownMemory, ToldMemory } from "../../src/memories/write/statement.js";
import { memoryItem } from "../support/memory-item.js";

const thresholds = { ask: 0.85, review: 0.75 };
const known = (relation: KnownMemory["relation"], fields: Partial<KnownMemory> = {}): KnownMemory => ({
  ...versionOf(memoryItem(new Date("2025-01-01"))),
  ...{ relation, ref: 1, id: relation, kind: "fact", category: "preferences", keyed: relation === "slot" },
  ...{ text: "The user likes tea.", actorId: null, seenCount: 1 },
  ...{ origin: "user", trust: "user", confidence: 0.9, turn: 1, rank: 3 },
  ...{ validFrom: new Date("2025-01-01"), validTo: null, assertedAt: new Date("2025-01-01") },
  expired: false,
  similarity: relation === "near" ? 0.9 : 1,
  ...fields,
});
const told = (fields: Partial<ToldMemory> = {}): ToldMemory => ({
  ...{ scope: { userId: "ana" }, kind: "fact", category: "preferences", text: "The user enjoys tea." },
  ...{ contentHash: "tea", terms: "tea", quarantined: false, pinned: false, tags: [], importance: 3 },
  ...{ origin: "user", trust: "user", confidence: 0.9, turn: 2, rank: 3, correction: false },
  ...{ metadata: {}, now: new Date("2025-06-01") },
  ...fields,
});
const decide = (said: ToldMemory, ...others: KnownMemory[]) => decideWrite(said, others, thresholds);

describe("a new memory", () => {
  it("of which nothing is known is created", () => {
    expect(decide(told())).toEqual({ action: "create" });
  });

  it("that a free statement says already takes its place in a slot; what fills another slot stays there", () => {
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

  it.each([
    [0.99, { action: "ask", id: "near", similarity: 0.99 }],
    [0.9, { action: "ask", id: "near", similarity: 0.9 }],
    [0.8, { action: "create" }],
    [0.1, { action: "create" }],
  ])("with a neighbour at %f: %j", (similarity, decision) => {
    expect(decide(told(), known("near", { similarity }))).toEqual(decision);
  });

  it("merges with statements of its kind only, and never with a slot", () => {
    expect(decide(told(), known("near", { kind: "insight", similarity: 0.99 }))).toEqual({
      action: "create",
    });
    expect(decide(told(), known("near", { keyed: true, similarity: 0.99 }))).toEqual({
      action: "create",
    });
    expect(decide(told({ key: "drink" }), known("near", { similarity: 0.99 }))).toEqual({
      action: "create",
    });
    for (const kind of ["episode", "note", "procedure"] as const) {
      expect(decide(told({ kind }), known("near", { kind, similarity: 0.99 }))).toEqual({
        action: "create",
      });
    }
  });
});

it("with another figure than its nearest may be one with the next", () => {
  const [other, same] = ["2", "3"].map((dogs) =>
    known("near", { id: dogs, text: `The user has ${dogs} dogs.`, similarity: dogs === "2" ? 0.99 : 0.9 }),
  ) as [KnownMemory, KnownMemory];
  expect(decide(told({ text: "The user owns 3 dogs." }), other, same)).toMatchObject({
    action: "ask",
    id: "3",
  });
  expect(decide(told({ text: "The user owns 3 dogs." }), other)).toEqual({ action: "create" });
});

it("known already, is told in the words of whoever is believed more", () => {
  const said = told({ text: "The user likes tea!", rank: 3 });
  const near = known("near", { similarity: 0.97, rank: 2 });
  expect(decide(said, near)).toMatchObject({ action: "update", id: "near" });
  expect(decide({ ...said, rank: 1 }, near)).toMatchObject({ action: "touch", id: "near" });
});
