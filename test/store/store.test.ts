import { describe, expect, it } from "vitest";
import { code } from "../support/rejection.js";
import { embeddings, user, useStoreDatabase, word } from "./store-samples.js";

const db = useStoreDatabase();

describe("a store of a scope", () => {
  it("A store of a scope is separate from other users, apps and tenants, and from one without a scope", async () => {
    const memory = db.memory();
    const id = word();
    const scopes = [
      { userId: id },
      { userId: id, appId: "notes" },
      { appId: id },
      { tenantId: "acme", userId: id },
      { userId: `${id}\\` },
    ];
    const stores = [memory.store(), ...scopes.map((scope) => memory.store({ scope }))];
    for (const [n, store] of stores.entries()) await store.put([id], "k", { n });
    for (const [n, store] of stores.entries()) {
      expect((await store.get([id], "k"))?.value).toEqual({ n });
      expect(await store.search([id])).toHaveLength(1);
    }
    await stores[1]?.delete([id], "k");
    expect(await stores[1]?.listNamespaces({ prefix: [id] })).toEqual([]);
    expect(await stores[2]?.get([id], "k")).not.toBeNull();
  });

  it("The scope of a store may depend on the namespace, and a batch keeps its order", async () => {
    const [ana, ben] = [word(), word()];
    const memory = db.memory();
    const store = memory.store({ scope: ([, userId = ""]) => ({ userId }) });
    const found = await store.batch([
      { namespace: ["memories", ana], key: "k", value: { whose: "ana" } },
      { namespace: ["memories", ben], key: "k", value: { whose: "ben" } },
      { namespace: ["memories", ana], key: "k" },
      { namespace: ["memories", ben], key: "k" },
    ]);
    expect(found.slice(2)).toMatchObject([
      { value: { whose: "ana" } },
      { value: { whose: "ben" } },
    ]);
    expect(await memory.store({ scope: { userId: ana } }).search([])).toHaveLength(1);
    await memory.forget({ scope: { userId: ana } });
    expect(await store.get(["memories", ana], "k")).toBeNull();
    expect(await store.get(["memories", ben], "k")).not.toBeNull();
    await expect(store.search(["memories"])).rejects.toThrow(code("SCOPE_REQUIRED"));
  });

  it("Every call of a store takes labels with full stops and colons, as in an e-mail address", async () => {
    const store = db.memory().store(user());
    const namespace = ["memories", "ana@example.org", "urn:isbn:1"];
    await store.put(namespace, "k", { n: 1 });
    expect(await store.get(namespace, "k")).toMatchObject({ namespace, value: { n: 1 } });
    expect(await store.search(namespace)).toHaveLength(1);
    expect(await store.listNamespaces({ prefix: namespace })).toEqual([namespace]);
    await store.delete(namespace, "k");
    expect(await store.get(namespace, "k")).toBeNull();
  });

  it("The store of a memory with a default scope has that scope", async () => {
    const scope = { userId: word() };
    await db.memory({ defaultScope: scope }).store().put(["a"], "k", { n: 1 });
    expect(await db.memory().store({ scope }).get(["a"], "k")).not.toBeNull();
  });
});

describe("a query of a store", () => {
  it("A query finds by words alone without embeddings: word forms, accents, scripts without spaces", async () => {
    const store = db.memory().store(user());
    await store.put(["q"], "café", { text: "She runs to the café" });
    await store.put(["q"], "漢字", { text: "京都で抹茶を飲む" });
    const filler = Array.from({ length: 300 }, (_, n) => `filler${n}`).join(" ");
    await store.put(["q"], "long", { text: `${filler} running` });
    const found = async (query: string) =>
      (await store.search(["q"], { query })).map(({ key }) => key);
    expect(await found("running")).toEqual(["café", "long"]);
    expect(await found("CAFE")).toEqual(["café"]);
    expect(await found("抹茶")).toEqual(["漢字"]);
    expect(await found("unheard-of")).toEqual([]);
    expect(await found("it's a 'quoted\\ : & | query' !(")).toEqual([]);
    expect(await found("What is there?")).toHaveLength(3);
  });

  it("A query ignores the vectors of a value that was replaced without embeddings", async () => {
    const of = user();
    const store = db.memory({ embeddings }).store(of);
    await store.put(["q"], "k", { text: "green tea" });
    await db.memory().store(of).put(["q"], "k", { text: "red car" });
    expect(await store.search(["q"], { query: "green tea" })).toEqual([]);
    expect(await store.search(["q"], { query: "car" })).toHaveLength(1);
  });
});

describe("items that expire", () => {
  it("Items that expire are kept longer by reads, each for its own time, and deleted by maintenance", async () => {
    let now = new Date("2030-01-01T00:00:00Z");
    const later = (minutes: number) => {
      now = new Date(now.getTime() + minutes * 60_000);
    };
    const memory = db.memory({ clock: () => now });
    const of = user();
    const store = memory.store({ ...of, ttlMinutes: 60 });
    await store.put(["t"], "default", { n: 1 });
    await store.put(["t"], "short", { n: 2 }, undefined, { ttl: 10 });
    await memory.store(of).put(["t"], "for good", { n: 3 });
    const updatedAt = (await store.get(["t"], "default"))?.updatedAt;
    later(9);
    expect(await store.get(["t"], "short")).not.toBeNull();
    later(9);
    expect(await store.search(["t"], { filter: { n: 2 } })).toHaveLength(1);
    later(11);
    expect(await store.get(["t"], "short")).toBeNull();
    expect(await store.search(["t"])).toHaveLength(2);
    expect((await store.get(["t"], "default"))?.updatedAt).toEqual(updatedAt);
    later(61);
    expect(await store.listNamespaces()).toEqual([["t"]]);
    expect((await store.search(["t"])).map(({ key }) => key)).toEqual(["for good"]);
    await store.put(["t"], "default", { n: 4 });
    expect((await store.get(["t"], "default"))?.createdAt).toEqual(now);
    const rows = () =>
      db.pool.query(`select key from "${db.schema}".store_item where user_id = $1`, [
        of.scope.userId,
      ]);
    expect((await rows()).rows).toHaveLength(3);
    await memory.upkeep();
    expect((await rows()).rows).toHaveLength(2);
  });
});

describe("a put with `ifValue`", () => {
  it("A put with ifValue writes nothing of its batch if one item has changed, and says what it is now", async () => {
    const store = db.memory({ embeddings }).store(user());
    const when = (ifValue: Record<string, unknown> | null) => ({ ifValue });
    await store.put(["n"], "a", { text: "one", list: [1, { x: null }] }, undefined, when(null));
    await store.put(
      ["n"],
      "a",
      { text: "two" },
      undefined,
      when({ list: [1, { x: null }], text: "one" }),
    );
    const stale = store.put(["n"], "a", { text: "three" }, undefined, when({ text: "one" }));
    await expect(stale).rejects.toMatchObject({
      code: "STALE_REVISION",
      details: { current: { text: "two" } },
    });
    const batch = store.batch([
      { namespace: ["n"], key: "b", value: { text: "new" } },
      { namespace: ["n"], key: "a", value: null, options: when(null) } as never,
    ]);
    await expect(batch).rejects.toThrow(code("STALE_REVISION"));
    expect((await store.search(["n"])).map(({ key, value }) => [key, value.text])).toEqual([
      ["a", "two"],
    ]);
    await store.put(["n"], "a", null, undefined, when({ text: "two" }));
    expect(await store.search(["n"])).toEqual([]);
    const nobodys = db.memory().store().put([word()], "a", {}, undefined, when(null));
    await expect(nobodys).rejects.toThrow(code("SCOPE_REQUIRED"));
  });

  it("A put with ifValue lets one of many concurrent writers win", async () => {
    const store = db.memory().store(user());
    const all = async (ifValue: Record<string, unknown> | null) => {
      const puts = Array.from({ length: 8 }, () =>
        store.put(["n"], "k", { id: word() }, undefined, { ifValue }),
      );
      const done = await Promise.allSettled(puts);
      return done.filter(({ status }) => status === "fulfilled").length;
    };
    expect(await all(null)).toBe(1);
    expect(await all((await store.get(["n"], "k"))?.value ?? null)).toBe(1);
  });
});
