import { describe, expect, it } from "vitest";
import { indexedTexts } from "../../src/store/indexed-texts.rule.js";
import { code } from "../support/rejection.js";
import { processorMs } from "../support/timing.js";
import { watchedPool } from "../support/watched-pool.js";
import { embeddings, user, useStoreDatabase } from "./store-samples.js";

const db = useStoreDatabase();

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
