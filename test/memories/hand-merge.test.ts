import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
let memory: Memory;
beforeAll(async () => {
  memory = db.memory({ embeddings: new HashingEmbeddings(), config: { memories: { linkSimilarity: 0.3 } } });
  await memory.setup();
});

const two = async (userId: string) => {
  const scope = { userId };
  const [one, other] = await memory.memories.add(
    [{ text: "Sails the boat Vento." }, { text: "Plays chess with Rui." }],
    { scope },
  );
  return { scope, gone: one?.id ?? "", kept: other?.id ?? "" };
};

describe("memories.merge", () => {
  it("hides the one, counts it at the other, tells both in the audit trail, and can be reverted", async () => {
    const { scope, gone, kept } = await two("mia");
    const merged = await memory.memories.merge(gone, { scope, into: kept, actor: "joe", reason: "the same" });
    expect(merged).toMatchObject({ id: kept, text: "Plays chess with Rui.", seenCount: 2, state: "active" });
    expect(await memory.memories.get(gone, { scope })).toMatchObject({ state: "merged", supersededBy: kept });
    expect(await memory.query({ scope, query: "boat Vento" })).toEqual([]);
    const [ofGone] = await memory.memories.history(gone, { scope });
    const [ofKept] = await memory.memories.history(kept, { scope });
    expect(ofGone).toMatchObject({
      event: "MERGE",
      actor: "joe",
      new: { supersededBy: kept, reason: "the same" },
    });
    expect(ofKept).toMatchObject({ event: "MERGE", actor: "joe", new: { merged: gone, seenCount: 2 } });
    const { changes } = await memory.changes.since(2, { scope });
    expect(changes).toMatchObject([{ event: "merged", memoryId: kept }]);
    const [added] = (await memory.memories.history(gone, { scope })).filter(({ event }) => event === "ADD");
    await memory.memories.revert(gone, { scope, to: added?.id ?? 0 });
    expect((await memory.query({ scope, query: "boat Vento" })).map(({ memory: { id } }) => id)).toEqual([
      gone,
    ]);
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("refuses itself, what is not there, what is not active, another scope's, and an old revision", async () => {
    const { scope, gone, kept } = await two("noa");
    const others = await two("oda");
    const merge = (id: string, into: string, ifRevision?: number) =>
      memory.memories.merge(id, { scope, into, ifRevision });
    await expect(merge(gone, gone)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(merge(gone, others.kept)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(merge(others.gone, kept)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(merge(gone, kept, 7)).rejects.toMatchObject({ code: "STALE_REVISION" });
    const [inShop] = await memory.memories.add(
      { text: "Buys ropes." },
      { scope: { ...scope, appId: "shop" } },
    );
    await memory.memories.update(inShop?.id ?? "", { importance: 4 }, { scope });
    await memory.memories.remove(kept, { scope });
    await expect(merge(gone, kept)).rejects.toMatchObject({ code: "WRONG_STATE" });
    expect(await memory.memories.get(gone, { scope })).toMatchObject({ state: "active" });
  });
});

describe("memories.links", () => {
  it("tells what a memory is linked with, at both ends, strongest first, and of nobody else's", async () => {
    const scope = { userId: "pia" };
    for (const text of ["Sails with Rui in spring.", "Sails on Sundays with Rui.", "Likes tea."]) {
      await memory.memories.add({ text }, { scope });
    }
    const all = await memory.memories.list({ scope });
    const linked = await Promise.all(all.map(({ id }) => memory.memories.links(id, { scope })));
    const pairs = linked.flatMap((links, place) => links.map((link) => [all[place]?.text, link.memory.text]));
    expect(pairs).toContainEqual(["Sails on Sundays with Rui.", "Sails with Rui in spring."]);
    expect(pairs).toContainEqual(["Sails with Rui in spring.", "Sails on Sundays with Rui."]);
    for (const links of linked) {
      const strengths = links.map(({ strength }) => strength);
      expect(strengths).toEqual([...strengths].sort((one, other) => other - one));
    }
    expect(await memory.memories.links(all[1]?.id ?? "", { scope: { userId: "quinn" } })).toEqual([]);
  });
});
