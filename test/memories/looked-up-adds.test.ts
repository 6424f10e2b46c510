import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { memoriesApi } from "../support/held-neighbours.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const space = "looked up";
const embeddings = new HashingEmbeddings({ dimensions: 64 });

beforeAll(() => db.memory({ embeddings: Object.assign(embeddings, { model: space }) }).setup());

/** A user with some memories whom no process holds, and what is sent to the database. */
async function user() {
  const scope = { userId: randomUUID() };
  const { pool, statements, inTransactions } = watchedPool(db.pool);
  const memories = memoriesApi({ pool, schema: db.schema }, { embeddings, space });
  const colour = { category: "preferences", key: "colour", value: "red", text: "The user likes red." };
  await memories.add([{ text: "The user has a garden with old pear trees." }, colour], { scope });
  const add = async (drafts: MemoryDraft | MemoryDraft[]) => {
    statements.length = 0;
    inTransactions.length = 0;
    const outcomes = await memories.add(drafts, { scope });
    return { outcomes, statements: statements.length, inTransactions: inTransactions.length };
  };
  return { scope, memories, colour, add };
}

describe("an add to an owner that no process holds", () => {
  it("takes two statements and no transaction where it is new", async () => {
    const { scope, memories, add } = await user();
    const { outcomes, ...sent } = await add({ text: "The user's sister builds violins." });
    expect(sent).toEqual({ statements: 2, inTransactions: 0 });
    expect(outcomes).toMatchObject([{ outcome: "created" }]);
    expect(await memories.get(outcomes[0]?.id ?? "", { scope })).toMatchObject({ revision: 1 });
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("is linked to what is near", async () => {
    const { scope, memories, add } = await user();
    const { outcomes, inTransactions } = await add({ text: "The user has a garden with old plum trees." });
    expect(inTransactions).toBe(0);
    const [linked] = outcomes;
    const links = await memories.links(linked?.id ?? "", { scope });
    expect(links.map(({ memory }) => memory.text)).toEqual(["The user has a garden with old pear trees."]);
  });

  it("is decided under the owner's lock, without a try before, where it says what is known", async () => {
    const { add } = await user();
    const { outcomes, ...sent } = await add({ text: "The user has a garden with old pear trees." });
    expect(outcomes).toMatchObject([{ outcome: "merged" }]);
    // The transaction counts as one.
    expect(sent.statements).toBe(2);
    expect(sent.inTransactions).toBeGreaterThan(0);
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it.each<{ what: string; draft: MemoryDraft; outcome: string }>([
    {
      what: "gives a slot another value",
      draft: { category: "preferences", key: "colour", value: "blue", text: "The user likes blue." },
      outcome: "replaced",
    },
    {
      what: "needs the user's consent",
      draft: { category: "profile", key: "city", value: "Oslo", text: "The user lives in Oslo." },
      outcome: "proposed",
    },
  ])(
    "is decided under the owner's lock, and not looked up before, where it $what",
    async ({ draft, outcome }) => {
      const { add } = await user();
      const { outcomes, statements } = await add(draft);
      expect(outcomes).toMatchObject([{ outcome }]);
      expect(statements).toBe(1);
      expect(await brokenInvariants(db)).toEqual([]);
    },
  );

  it("makes an owner of whom nothing was known", async () => {
    const scope = { tenantId: "t", userId: randomUUID() };
    const memories = memoriesApi(db, { embeddings, space });
    expect(await memories.add({ text: "Quinces ripen in October." }, { scope })).toMatchObject([
      { outcome: "created" },
    ]);
    expect(await memories.list({ scope })).toHaveLength(1);
  });

  it.skipIf(!onServer())("leaves one memory of what many say at once (server only)", async () => {
    const { scope, memories } = await user();
    const text = "Quinces ripen in October.";
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => memories.add({ text }, { scope })));
    const ids = new Set(outcomes.flat().map(({ id }) => id));
    expect(ids.size).toBe(1);
    expect(outcomes.flat().filter(({ outcome }) => outcome === "created")).toHaveLength(1);
    const [kept] = (await memories.list({ scope })).filter((memory) => memory.text === text);
    expect(kept?.seenCount).toBe(20);
    expect(await brokenInvariants(db)).toEqual([]);
  });
});
