import { describe, expect, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { embeddings, useStoreDatabase, word } from "./store-samples.js";

const db = useStoreDatabase();

describe("operations on the items of a scope", () => {
  it("memory.forget deletes the items of a scope, counts them in a dry run, and keeps those of others", async () => {
    const memory = db.memory({ embeddings });
    const [id, appId] = [word(), word()];
    for (const scope of [{ userId: id }, { userId: id, appId }, { appId }]) {
      for (let n = 0; n < 3; n++)
        await memory.store({ scope }).put(["n"], String(n), { text: `tea ${id}` });
    }
    const items = { store_item: 3, store_embedding: 3 };
    expect((await memory.forget({ scope: { userId: id, appId }, dryRun: true })).removed).toEqual(
      items,
    );
    const forgotten = await memory.forget({ scope: { userId: id, appId }, batchSize: 2 });
    expect(forgotten).toMatchObject({ removed: items, complete: true });
    expect((await memory.forget({ scope: { userId: id } })).removed).toEqual({
      ...items,
      owner: 1,
    });
    expect(await memory.store({ scope: { appId } }).search(["n"])).toHaveLength(3);
  });

  it("A user or app that has nothing but items is listed until it is forgotten", async () => {
    const memory = db.memory();
    const tenantId = word();
    const user = { tenantId, userId: word() };
    const app = { tenantId, appId: word() };
    for (const scope of [user, { ...user, appId: app.appId }, app]) {
      await memory.store({ scope }).put(["n"], "k", { text: "tea" });
    }
    const listed = async () => [
      ...(await memory.users.list({ tenantId })),
      ...(await memory.apps.list({ tenantId })),
    ];
    const nothingElse = { memories: 0, threads: 0, lastActivityAt: null };
    expect(await listed()).toMatchObject([
      { scope: user, items: 2, ...nothingElse },
      { scope: app, items: 1, ...nothingElse },
    ]);
    await memory.forget({ scope: { ...user, appId: app.appId } });
    expect(await listed()).toMatchObject([{ scope: user, items: 1 }, { scope: app }]);
    await memory.forget({ scope: user });
    await memory.forget({ scope: app });
    expect(await listed()).toEqual([]);
  });

  it("An uninstalled app keeps its items unless they are purged, and users keep theirs in it", async () => {
    const memory = db.memory();
    const app = { appId: word() };
    const ofUser = { userId: word(), ...app };
    for (const scope of [app, ofUser])
      await memory.store({ scope }).put(["n"], "k", { text: "tea" });
    expect(await memory.apps.uninstall({ scope: app })).toMatchObject({ deletedItems: 0 });
    expect(await memory.apps.uninstall({ scope: app, purgeMemories: true })).toMatchObject({
      deletedItems: 1,
    });
    expect(await memory.store({ scope: app }).get(["n"], "k")).toBeNull();
    expect(await memory.store({ scope: ofUser }).get(["n"], "k")).not.toBeNull();
  });
});

describe("another embedding model", () => {
  it("Another embedding model finds items by its vectors after reembed, which embeds changed items again", async () => {
    const scope = { userId: word() };
    const before = db.memory({ embeddings });
    const another = Object.assign(new HashingEmbeddings({ dimensions: 24 }), { model: "another" });
    const after = db.memory({ embeddings: another });
    const store = after.store({ scope });
    for (let n = 0; n < 5; n++)
      await before.store({ scope }).put(["n"], String(n), { text: `tea ${n}`, more: "x" });
    await before.store({ scope }).put(["n"], "hidden", { text: "tea" }, false);
    // Without any text, it has nothing to be embedded.
    await before.store({ scope }).put(["n"], "empty", { text: "" });
    const vectors = async () => {
      const { rows } = await db.pool.query(
        `select i.key, cardinality(e.embeddings) as texts from "${db.schema}".store_embedding e
         join "${db.schema}".store_item i on i.ref = e.item_ref
         join "${db.schema}".embedding_space s on s.id = e.space_ref
         where s.dimensions = 24 and i.user_id = $1 order by i.key`,
        [scope.userId],
      );
      return rows;
    };
    await after.setup();
    expect(await vectors()).toEqual([]);
    expect((await after.reembed({ batchSize: 2 })).remaining).toBe(0);
    expect(await vectors()).toEqual([
      ...["0", "1", "2", "3", "4"].map((key) => ({ key, texts: 1 })),
      { key: "empty", texts: 0 },
    ]);
    const [found] = await store.search(["n"], { query: "tea 3" });
    expect(found?.key).toBe("3");
    await before.store({ scope }).put(["n"], "3", { text: "coffee" });
    expect(await after.reembed()).toMatchObject({ embedded: 1, remaining: 0 });
    expect(await after.reembed()).toMatchObject({ embedded: 0, remaining: 0 });
  });
});
