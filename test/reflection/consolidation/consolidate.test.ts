import { describe, expect, it } from "vitest";
import type { Scope } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { brokenInvariants } from "../../support/broken-invariants.js";
import { consolidateNow } from "../../support/consolidate-now.js";
import { judgingModel, samePair } from "../../support/pair-judge.js";
import { useTestDatabase } from "../../support/test-database.js";
import { textsOf } from "../../support/thread-facts.js";

const db = useTestDatabase();

const [hiking, hikes] = samePair;

describe("consolidation", () => {
  it("Consolidation merges two equal memories into one with the counts of both", async () => {
    const scope: Scope = { userId: "merge" };
    const memory = db.memory({ model: judgingModel(() => "same") });
    const drafts = [
      { ...hiking, importance: 2, tags: ["sport"] },
      { ...hikes, importance: 4, tags: ["summer"] },
    ];
    const [first, second] = await memory.memories.add({ scope, memories: drafts });
    const done = await consolidateNow(memory, { scope });
    expect(done).toMatchObject({ status: "completed", calls: 5 });
    expect(done.pairs).toMatchObject([
      { verdict: "same", action: "merge", reason: "Because of pair 1.", refused: null },
    ]);
    const [kept, ...others] = await memory.memories.list({ scope });
    expect(others).toEqual([]);
    expect(kept).toMatchObject({
      seenCount: 2,
      importance: 4,
      tags: expect.arrayContaining(["sport", "summer"]),
    });
    const gone =
      [first, second].find(({ id } = { id: null } as never) => id !== kept?.id)?.id ?? "";
    expect(await memory.memories.get({ scope, id: gone })).toMatchObject({
      state: "merged",
      supersededBy: kept?.id,
    });
    expect(
      (await memory.query({ scope, query: "hiking in the Alps" })).map((hit) => hit.memory.id),
    ).toEqual([kept?.id]);
    const [entry, ...earlier] = await memory.memories.history({ scope, id: gone });
    expect(entry).toMatchObject({
      event: "MERGE",
      actor: "worker:consolidation",
      new: { supersededBy: kept?.id, verdict: "same", reason: "Because of pair 1." },
    });
    const { changes } = await memory.changes.list({ scope, since: 2 });
    expect(changes).toMatchObject([
      { event: "merged", line: expect.stringMatching(/^Combined 2 notes about/) },
    ]);
    // The merge is undone by hand.
    await memory.memories.revert({ scope, to: earlier.at(-1)?.id ?? 0, actor: "admin", id: gone });
    expect(await memory.memories.list({ scope })).toHaveLength(2);
    expect(await consolidateNow(memory, { scope })).toMatchObject({ calls: 0 });
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("A conflict that rules leave stands in the audit trail of both, which are listed as linked", async () => {
    const scope: Scope = { userId: "conflict" };
    const memory = db.memory({ model: judgingModel(() => "contradicts") });
    const memories = [{ ...hiking, pinned: true }, hikes];
    const [first, second] = await memory.memories.add({ scope, memories });
    const { revision } = await memory.changes.list({ scope, since: 0 });
    const done = await consolidateNow(memory, { scope });
    expect(done.pairs).toMatchObject([
      { verdict: "contradicts", action: "none", refused: "pinned" },
    ]);
    const [one, other] = [first?.id ?? "", second?.id ?? ""];
    for (const [id, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const [entry] = await memory.memories.history({ scope, id });
      expect(entry).toMatchObject({
        event: "LINK",
        new: {
          links: [{ to }],
          ...{ verdict: "contradicts", reason: "Because of pair 1.", left: "pinned" },
        },
      });
      const linked = await memory.memories.list({ scope, linkedTo: id });
      expect(linked.map((each) => each.id)).toEqual([to]);
      expect(await memory.memories.count({ scope, linkedTo: id })).toBe(1);
    }
    // No agent is notified, and nobody else's memories are listed.
    expect((await memory.changes.list({ scope, since: revision })).changes).toEqual([]);
    expect(await memory.memories.list({ scope: { userId: "else" }, linkedTo: one })).toEqual([]);
    expect(await memory.memories.list({ scope, linkedTo: "no id" })).toEqual([]);
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("Consolidation does not ask again about a compared pair until a text changes", async () => {
    const scope: Scope = { userId: "again" };
    const memory = db.memory({ model: judgingModel(() => "unrelated") });
    const [first] = await memory.memories.add({
      scope,
      memories: samePair,
    });
    expect(await consolidateNow(memory, { scope })).toMatchObject({
      status: "completed",
      calls: 2,
    });
    expect(await consolidateNow(memory, { scope })).toMatchObject({
      status: "skipped",
      reason: "nothing_new",
      calls: 0,
    });
    await memory.memories.update({ scope, id: first?.id ?? "", pinned: true });
    expect(await consolidateNow(memory, { scope })).toMatchObject({ calls: 0 });
    await memory.memories.update({
      scope,
      id: first?.id ?? "",
      text: "The user enjoys hiking in the Alps each summer.",
    });
    expect(await consolidateNow(memory, { scope })).toMatchObject({ calls: 2 });
  });

  it("Consolidation links related memories once", async () => {
    const scope: Scope = { userId: "link" };
    const memory = db.memory({
      model: judgingModel(() => "related"),
      config: { memories: { links: 0 } },
    });
    const [, second] = await memory.memories.add({
      scope,
      memories: samePair,
    });
    expect((await consolidateNow(memory, { scope })).pairs).toMatchObject([{ action: "link" }]);
    const { rows } = await db.pool.query(
      `select r.strength from "${db.schema}".relation r join "${db.schema}".memory m on m.ref = r.from_ref where m.user_id = 'link'`,
    );
    expect(rows).toHaveLength(1);
    const expected = [{ event: "LINK", new: { reason: "Because of pair 1." } }, { event: "ADD" }];
    expect(await memory.memories.history({ scope, id: second?.id ?? "" })).toMatchObject(expected);
  });

  it("Consolidation never merges different figures, and asks the model about dates, names and negation", async () => {
    const scope: Scope = { userId: "details" };
    const asked: string[] = [];
    const model = judgingModel(({ one, other }) => {
      asked.push([one, other].toSorted().join(" "));
      return /cats/.test(one) && /cats/.test(other) ? "same" : "unrelated";
    });
    const config = { memories: { askSimilarity: 0.3 } };
    const memory = db.memory({ model, embeddings: new HashingEmbeddings(), config });
    await memory.setup();
    const drafts = [
      { text: "The user has 2 cats at home." },
      { text: "The user has 3 cats at home." },
      { text: "The user never has cats at home." },
      { text: "The appointment with the dentist is on Monday." },
      { text: "The appointment with the dentist is on Tuesday." },
      { text: "The user plays chess with Anna in the park." },
      { text: "The user plays chess with Boris in the park." },
    ];
    await memory.memories.add({ scope, memories: drafts });
    const { pairs } = await consolidateNow(memory, { scope });
    expect(pairs.filter(({ verdict }) => verdict === "same")).toMatchObject([
      ...Array(3).fill({ action: "none", refused: "details" }),
    ]);
    expect(asked).toContain(
      "The appointment with the dentist is on Monday. The appointment with the dentist is on Tuesday.",
    );
    expect(asked).toContain("The user has 2 cats at home. The user never has cats at home.");
    expect(await memory.memories.list({ scope })).toHaveLength(7);
  });

  it("Consolidation closes an amount or an agreement that a later one updates", async () => {
    const scope: Scope = { userId: "changed" };
    const said = [
      ["The user earns 8,000 euros at the bakery.", "The user earns 9,500 euros at the bakery."],
      ["The user wants to be called by phone.", "The user no longer wants to be called by phone."],
    ];
    const memory = db.memory({
      model: judgingModel(({ one, other }) =>
        said.some((pair) => pair.includes(one) && pair.includes(other)) ? "updates" : "unrelated",
      ),
    });
    for (const text of [...said.map(([before]) => before), ...said.map(([, now]) => now)])
      await memory.memories.add({ scope, memories: { text: text as string } });
    await consolidateNow(memory, { scope });
    expect((await textsOf(memory, { scope })).toSorted()).toEqual(said.map(([, now]) => now));
  });
});
