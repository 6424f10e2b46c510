import { describe, expect, it } from "vitest";
import {
  absorbed,
  decideWrite,
  type Proposal,
  type Rival,
  settleAsk,
} from "../../src/memories/write/write-decision.js";

const thresholds = { merge: 0.95, ask: 0.85, review: 0.75 };
const rival = (relation: Rival["relation"], fields: Partial<Rival> = {}): Rival => ({
  ...{
    relation,
    id: relation,
    kind: "fact",
    keyed: relation === "slot",
    text: "The user likes tea.",
    value: null,
  },
  ...{
    confidence: 0.9,
    turn: 1,
    ...{ rank: 3, validFrom: new Date("2025-01-01"), validTo: null, assertedAt: new Date("2025-01-01") },
    similarity: relation === "near" ? 0.9 : 1,
  },
  ...fields,
});
const proposal = (fields: Partial<Proposal> = {}): Proposal => ({
  ...{ kind: "fact", key: null, value: null, text: "The user enjoys tea.", confidence: 0.9, turn: 2 },
  ...{ rank: 3, now: new Date("2025-06-01"), validFrom: null, correction: false },
  ...fields,
});
const decide = (said: Proposal, ...rivals: Rival[]) => decideWrite(said, rivals, thresholds);

describe("a new memory", () => {
  it("of which nothing is known is created", () => {
    expect(decide(proposal())).toEqual({ action: "create" });
  });

  it("that is known word for word counts as seen again", () => {
    expect(decide(proposal(), rival("same"), rival("near"))).toEqual({
      action: "touch",
      id: "same",
      similarity: 1,
    });
  });

  it("that a free statement says already takes its place in a slot; what fills another slot stays there", () => {
    const city = proposal({ key: "city", value: "Rome" });
    expect(decide(city, rival("same"))).toEqual({ action: "create" });
    expect(decide(city, rival("slot", { value: "Porto" }), rival("same"))).toEqual({
      action: "replace",
      id: "slot",
    });
    expect(absorbed([rival("slot"), rival("same"), rival("near")])).toMatchObject({ id: "same" });
    expect(absorbed([rival("slot"), rival("same", { keyed: true })])).toBeUndefined();
    const elsewhere = rival("same", { keyed: true });
    expect(decide(city, rival("slot", { value: "Porto" }), elsewhere)).toMatchObject({
      action: "touch",
      id: "same",
    });
  });

  it.each([
    [0.97, { action: "touch", id: "near", similarity: 0.97 }],
    [0.9, { action: "ask", id: "near", similarity: 0.9 }],
    [0.8, { action: "create" }],
    [0.1, { action: "create" }],
  ])("with a neighbour at %f: %j", (similarity, decision) => {
    expect(decide(proposal(), rival("near", { similarity }))).toEqual(decision);
  });

  it("that differs in a number is created, however near", () => {
    const twice = proposal({ text: "The user likes 2 teas." });
    expect(decide(twice, rival("near", { similarity: 0.99 }))).toEqual({ action: "create" });
  });

  it("merges with statements of its kind only, and never with a slot", () => {
    expect(decide(proposal(), rival("near", { kind: "insight", similarity: 0.99 }))).toEqual({
      action: "create",
    });
    expect(decide(proposal(), rival("near", { keyed: true, similarity: 0.99 }))).toEqual({
      action: "create",
    });
    expect(decide(proposal({ key: "drink" }), rival("near", { similarity: 0.99 }))).toEqual({
      action: "create",
    });
    for (const kind of ["episode", "note", "procedure"]) {
      expect(decide(proposal({ kind }), rival("near", { kind, similarity: 0.99 }))).toEqual({
        action: "create",
      });
    }
  });

  it("for a taken slot is decided by the slot alone", () => {
    const slot = rival("slot", { value: "Tea " });
    const said = (value: string, fields: Partial<Proposal> = {}) =>
      proposal({ key: "drink", value, ...fields });
    expect(decide(said("tea"), slot, rival("same"))).toEqual({ action: "touch", id: "slot", similarity: 1 });
    expect(decide(said("rum"), slot, rival("same"))).toEqual({ action: "replace", id: "slot" });
    expect(decide(said("rum", { confidence: 0.1 }), slot)).toEqual({ action: "keep", id: "slot" });
    expect(decide(said("rum", { validFrom: new Date("2020-01-01") }), slot)).toEqual({
      ...{ action: "insert_closed", id: "slot", until: slot.validFrom },
    });
  });
});

it("in a word that matters, is one with another only if somebody who understands both says so", () => {
  const anna = rival("near", { text: "The user's boss is called Anna.", similarity: 0.99 });
  expect(decide(proposal({ text: "The user's boss is called Maria." }), anna)).toMatchObject({
    action: "ask",
  });
});

it("known already, is told in the words of whoever is believed more", () => {
  const said = proposal({ text: "The user enjoys tea.", rank: 3 });
  const near = rival("near", { similarity: 0.97, rank: 2 });
  expect(decide(said, near)).toMatchObject({ action: "update", id: "near" });
  expect(decide({ ...said, rank: 1 }, near)).toMatchObject({ action: "touch", id: "near" });
  const ask = { action: "ask", id: "near", similarity: 0.9 } as const;
  expect(
    settleAsk(
      ask,
      () => "says_more",
      () => true,
    ),
  ).toEqual({ action: "create" });
});

describe("an undecided pair", () => {
  const asked = { action: "ask", id: "near", similarity: 0.9 } as const;
  it.each([
    ["different", { action: "create" }],
    ["same", { action: "touch", id: "near", similarity: 0.9 }],
    ["says_more", { action: "update", id: "near", similarity: 0.9 }],
  ] as const)("is settled: %s", (verdict, decision) => {
    expect(settleAsk(asked, () => verdict)).toEqual(decision);
  });

  it("is the only thing that asks", () => {
    const decision = { action: "replace", id: "slot" } as const;
    expect(
      settleAsk(decision, () => {
        throw new Error("asked");
      }),
    ).toBe(decision);
  });
});
