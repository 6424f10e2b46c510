import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  getStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { createAgent, type ToolRuntime } from "langchain";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { indexedTexts } from "../../src/store/indexed-texts.rule.js";
import { HashingEmbeddings, ScriptedChatModel } from "../../src/testing/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useTestDatabase } from "../support/test-database.js";
import { processorMs } from "../support/timing.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const code = (code: string) => expect.objectContaining({ code });
const word = () => `store${randomUUID().replaceAll("-", "")}`;
const embeddings = new HashingEmbeddings({ dimensions: 16 });

beforeAll(async () => {
  await db.memory({ embeddings }).setup();
});

const user = () => ({ scope: { userId: word() } });

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
    await memory.forget({ userId: ana });
    expect(await store.get(["memories", ana], "k")).toBeNull();
    expect(await store.get(["memories", ben], "k")).not.toBeNull();
    await expect(store.search(["memories"])).rejects.toThrow(code("SCOPE_REQUIRED"));
  });

  it("The store of a memory with a default scope has that scope", async () => {
    const scope = { userId: word() };
    await db.memory({ defaultScope: scope }).store().put(["a"], "k", { n: 1 });
    expect(await db.memory().store({ scope }).get(["a"], "k")).not.toBeNull();
  });
});

describe("operations of a store", () => {
  it("A store refuses invalid operations", async () => {
    const store = db.memory().store(user());
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const wrong = [
      () => store.put([], "k", {}),
      () => store.put(["a", ""], "k", {}),
      () => store.put(["a", "\u0000"], "k", {}),
      () => store.put(["a", 1 as never], "k", {}),
      () => store.put(["a"], "k\ud800", {}),
      () => store.put(["a"], "k", { text: "nul \u0000" }),
      () => store.put(["a"], "k", { "key \ud800": 1 }),
      () => store.put(["a"], "k", undefined as never),
      () => store.put(["a"], "k", circular),
      () => store.put(["a"], "k", { n: 1n }),
      () => store.put(["a"], "k", {}, undefined, { ttl: -1 }),
      () => store.put(["a"], "k", {}, ["ok", ""]),
      () => store.search(["a"], { limit: -1 }),
      () => store.search(["a"], { filter: { a: undefined } }),
      () => store.search(["a"], { filter: { a: { $gt: undefined } } }),
      () => store.search(["a"], { filter: { a: { $grt: 1 } } }),
      () => store.search(["a"], { filter: { a: { $in: 1 } } }),
      () => store.search(["a"], { filter: { a: {} } }),
      () => store.search(["a"], { filter: "a" as never }),
      () => store.search(["a"], { filter: { "nul \u0000": 1 } }),
      () => store.search(["a"], { filter: { "half \ud800": { $exists: true } } }),
      () => store.listNamespaces({ maxDepth: 0 }),
      () => store.batch([{ unknown: true } as never]),
    ];
    for (const call of wrong)
      await expect(call(), String(call)).rejects.toThrow(code("INVALID_INPUT"));
    expect(await store.search([])).toEqual([]);
    expect(() => db.memory().store({ scope: { userId: "" } })).toThrow(code("SCOPE_REQUIRED"));
    expect(() => db.memory().store({ scope: undefined })).toThrow(code("SCOPE_REQUIRED"));
    expect(() => db.memory().store({ ttl: 5 } as never)).toThrow(/ttlMinutes/);
  });

  it("Over 100 conditions or 65,535 parameters of a statement are refused, and count as no outage", async () => {
    const memory = db.memory();
    const store = memory.store(user());
    const invalid = (part: string) =>
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(part) });
    const conditions = (many: number) =>
      Object.fromEntries(Array.from({ length: many }, (_, n) => [`f${n}`, n]));
    expect(await store.search(["a"], { filter: conditions(100) })).toEqual([]);
    for (const filter of [conditions(101), conditions(33_000)]) {
      await expect(store.search(["a"], { filter })).rejects.toThrow(invalid("100"));
    }
    const prefix = Array.from({ length: 33_000 }, (_, n) => `l${n}`);
    for (let n = 0; n < 3; n++)
      await expect(store.listNamespaces({ prefix })).rejects.toThrow(invalid("65535"));
    expect(await memory.databaseStatus()).toMatchObject({ state: "up", silentMs: null });
  });

  it("A store indexes the first 100,000 characters of a value, so that millions of numbers block nobody", async () => {
    const many = Array.from({ length: 1_000_000 }, (_, n) => n);
    const item = {
      value: { many, text: "x".repeat(1_000_000) },
      indexFields: ["$", "many[*]", "text"],
    };
    const texts = indexedTexts(item) ?? [];
    expect(processorMs(() => indexedTexts(item), 300)).toBeLessThan(300);
    expect([texts.length, Math.max(...texts.map(({ length }) => length))]).toEqual([200, 100_000]);
    expect(texts[0]).toMatch(/^many: 0\nmany: 1\n/);
  });

  it("A store keeps values as they are: escapes, numbers, and names that have a meaning in JavaScript", async () => {
    const store = db.memory().store(user());
    const value = JSON.parse(
      '{"__proto__": {"a": 1}, "constructor": 2, "escaped": "\\\\u0000 \\\\\\\\ud800", "": [1e-7, -0.5, 12345678901], "🙂": null}',
    );
    await store.put(["a"], "", value);
    expect(JSON.stringify((await store.get(["a"], ""))?.value)).toContain('"__proto__"');
    expect((await store.get(["a"], ""))?.value).toEqual(value);
  });

  it("A store takes names longer than an entry of an index", async () => {
    const store = db.memory().store(user());
    const [one, other] = ["1", "2"].map((end) => [`${"long 漢\\".repeat(1_000)}${end}`, "x"]);
    const key = "key'".repeat(5_000);
    await store.put(one as string[], key, { n: 1 });
    await store.put(other as string[], key, { n: 2 });
    expect((await store.get(one as string[], key))?.value).toEqual({ n: 1 });
    expect(await store.search([(other as string[])[0] as string])).toHaveLength(1);
  });

  it("Filters take lists, existence and parts of objects, and never fail on what cannot be compared", async () => {
    const store = db.memory().store(user());
    await store.put(["f"], "a", { n: "12", tags: ["x"], meta: { lang: "de", deep: { a: 1 } } });
    await store.put(["f"], "b", { n: 5, meta: { lang: "en" } });
    await store.put(["f"], "c", { n: "not a number", x: null });
    await store.put(["f"], "d", { n: { nested: 1 } });
    const found = async (filter: object) =>
      (await store.search(["f"], { filter })).map(({ key }) => key).sort();
    expect(await found({ n: { $in: [5, "12", 99] } })).toEqual(["a", "b"]);
    expect(await found({ n: { $nin: [5] } })).toEqual(["a", "c", "d"]);
    expect(await found({ x: { $exists: true } })).toEqual(["c"]);
    expect(await found({ meta: { $exists: false } })).toEqual(["c", "d"]);
    expect(await found({ meta: { lang: "de" } })).toEqual(["a"]);
    expect(await found({ tags: ["x"] })).toEqual(["a"]);
    expect(await found({ n: { $gt: 6 } })).toEqual(["a"]);
    expect(await found({ n: { $lt: "6" } })).toEqual(["b"]);
    expect(await found({ n: { $gte: "not" } })).toEqual(["c"]);
  });

  it("A batch takes one round trip, also with reads of its own writes", async () => {
    const { pool, statements } = watchedPool(db.pool);
    const store = db.memory({ database: pool, embeddings }).store(user());
    await store.put(["w"], "warm", { text: "warm" });
    await store.search(["w"], { query: "warm" });
    statements.length = 0;
    const results: unknown[] = await store.batch([
      { namespacePrefix: ["a"], limit: 10, offset: 0 },
      { namespace: ["a", "b"], key: "1", value: { text: "green tea" } },
      { namespace: ["a", "b"], key: "2", value: { text: "a red car" } },
      { namespacePrefix: ["a"], query: "green tea", limit: 1, offset: 0 },
      { namespace: ["a", "b"], key: "1", value: null },
      { namespacePrefix: ["a"], limit: 10, offset: 0 },
      { matchConditions: [{ matchType: "suffix", path: ["b"] }], limit: 10, offset: 0 },
      { namespace: ["w"], key: "warm" },
    ]);
    expect(statements).toHaveLength(1);
    expect(results).toMatchObject([
      ...[
        [],
        undefined,
        undefined,
        [{ key: "1" }],
        undefined,
        [{ key: "2" }],
        [["a", "b"]],
        { key: "warm" },
      ],
    ]);
  });

  it("Batches that write the same items in different orders wait for each other", async () => {
    const store = db.memory().store(user());
    const names = Array.from({ length: 20 }, (_, n) => String(n));
    const put = (key: string, n: number) => ({
      namespace: ["c"],
      key,
      value: n % 3 === 0 ? null : { n },
    });
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        store.batch((n % 2 === 0 ? names : names.toReversed()).map((key, at) => put(key, n + at))),
      ),
    );
    for (const item of await store.search(["c"], { limit: 50 })) {
      expect(Object.keys(item.value)).toEqual(["n"]);
    }
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

  it("A store keeps what the redactor makes of a value", async () => {
    const secret = word();
    const store = db.memory({ redact: (text) => text.replaceAll(secret, "(gone)") }).store(user());
    await store.put(["r"], "k", { text: `The code is ${secret}.`, list: [secret] });
    expect((await store.get(["r"], "k"))?.value).toEqual({
      text: "The code is (gone).",
      list: ["(gone)"],
    });
    expect(await findEverywhere(db, secret)).toEqual({});
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

describe("a store in LangGraph", () => {
  const State = Annotation.Root({ found: Annotation<unknown[]> });

  it("Nodes of a graph use the store by getStore() and config.store, several calls at once", async () => {
    const store = db.memory().store(user());
    const graph = new StateGraph(State)
      .addNode("write", async (_, config: LangGraphRunnableConfig) => {
        await config.store?.put(["users", "a_b-c"], "k1", { text: "one" });
        await Promise.all([
          config.store?.put(["users", "a_b-c"], "k2", { text: "two" }),
          config.store?.put(["users", "a_b-c"], "k3", { text: "three" }),
        ]);
        return {};
      })
      .addNode("read", async () => {
        const inside = getStore();
        const put = inside?.put(["users", "a_b-c"], "k4", { text: "four" });
        const found = await Promise.all([
          inside?.get(["users", "a_b-c"], "k1"),
          inside?.search(["users"], { query: "two" }),
          inside?.get(["users", "a_b-c"], "k4"),
          inside?.delete(["users", "a_b-c"], "k3"),
        ]);
        await put;
        return { found };
      })
      .addEdge(START, "write")
      .addEdge("write", "read")
      .compile({ store });
    const { found } = await graph.invoke({ found: [] });
    expect(found).toMatchObject([
      { value: { text: "one" } },
      [{ key: "k2" }],
      { value: { text: "four" } },
      undefined,
    ]);
    expect((await store.search(["users", "a_b-c"])).map(({ key }) => key).sort()).toEqual([
      "k1",
      "k2",
      "k4",
    ]);
  });

  it("Tools of createAgent read and write the store", async () => {
    const store = db.memory().store(user());
    const schema = z.object({ text: z.string() });
    const manage = tool(
      async ({ text }, runtime: ToolRuntime) => {
        const inside = runtime.store as unknown as BaseStore;
        await inside.put(["memories", "user_1"], "m1", { content: text });
        return JSON.stringify(
          (await inside.search(["memories", "user_1"], { query: text })).map(({ key }) => key),
        );
      },
      { name: "manage_memory", description: "Keeps a memory.", schema },
    );
    const call = {
      name: "manage_memory",
      args: { text: "Likes tea" },
      id: "c1",
      type: "tool_call" as const,
    };
    const model = new ScriptedChatModel({
      replies: [new AIMessage({ content: "", tool_calls: [call] }), new AIMessage("Kept.")],
    });
    const agent = createAgent({ model, tools: [manage], store });
    const { messages } = await agent.invoke({
      messages: [{ role: "user", content: "I like tea" }],
    });
    expect(messages.map(({ content }) => content)).toContain('["m1"]');
    expect((await store.get(["memories", "user_1"], "m1"))?.value).toEqual({
      content: "Likes tea",
    });
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
