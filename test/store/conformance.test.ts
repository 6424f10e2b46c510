import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { embeddings, user, useStoreDatabase } from "./store-samples.js";

const db = useStoreDatabase();

/** Expected behaviour of a store; throws if the store differs. */
type Expectation = (store: BaseStore) => Promise<void>;

const keys = (items: readonly { readonly key: string }[]) => items.map(({ key }) => key).sort();

const expectations: Readonly<Record<string, Expectation>> = {
  async "A store gives back what was put, and when"(store) {
    const value = { text: "Likes tea", nested: { list: [1, "two", null, { deep: true }] } };
    await store.put(["users", "ana"], "tea", value);
    const item = await store.get(["users", "ana"], "tea");
    expect(item).toMatchObject({ namespace: ["users", "ana"], key: "tea", value });
    expect(item?.createdAt).toBeInstanceOf(Date);
    expect(item?.updatedAt).toBeInstanceOf(Date);
    expect(await store.get(["users", "ana"], "coffee")).toBeNull();
    expect(await store.get(["users"], "tea")).toBeNull();
  },
  async "A new value keeps the time at which its item was created"(store) {
    await store.put(["a"], "k", { version: 1 });
    const createdAt = (await store.get(["a"], "k"))?.createdAt.getTime();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.put(["a"], "k", { version: 2 });
    const second = await store.get(["a"], "k");
    expect(second?.value).toEqual({ version: 2 });
    expect(second?.createdAt.getTime()).toBe(createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThan(createdAt ?? 0);
  },
  async "An item is deleted by delete or by putting null, and deleting a missing one changes nothing"(
    store,
  ) {
    await store.put(["a"], "k", { n: 1 });
    await store.put(["a"], "l", { n: 2 });
    await store.delete(["a"], "k");
    await store.delete(["a"], "nothing");
    await store.batch([{ namespace: ["a"], key: "l", value: null }]);
    expect(await store.search(["a"])).toEqual([]);
    expect(await store.listNamespaces()).toEqual([]);
  },
  async "A prefix matches whole labels: users/1 is not users/10"(store) {
    await store.put(["users", "1"], "mine", { n: 1 });
    await store.put(["users", "10"], "theirs", { n: 2 });
    await store.put(["users", "1", "deep"], "below", { n: 3 });
    expect(keys(await store.search(["users", "1"]))).toEqual(["below", "mine"]);
    expect(keys(await store.search(["users"]))).toEqual(["below", "mine", "theirs"]);
    expect(await store.listNamespaces({ prefix: ["users", "1"] })).toEqual([
      ["users", "1"],
      ["users", "1", "deep"],
    ]);
  },
  async "Namespaces that are the same text when joined are kept apart"(store) {
    await store.put(["a", "b:c"], "k", { n: 1 });
    expect(await store.get(["a", "b", "c"], "k")).toBeNull();
    expect(await store.search(["a", "b"])).toEqual([]);
  },
  async "A namespace takes labels of any characters"(store) {
    const labels = [
      "a_b",
      "a%",
      "ana@example.com",
      "back\\slash",
      'quo"te',
      "it's",
      "ü 漢 🙂",
      "new\nline",
      "*",
      ",",
    ];
    for (const label of labels) await store.put(["any", label], label, { label });
    for (const label of labels) expect(keys(await store.search(["any", label]))).toEqual([label]);
    const listed = await store.listNamespaces({ prefix: ["any"] });
    expect(listed.map(([, label]) => label).sort()).toEqual([...labels].sort());
  },
  async "A search filters by equality"(store) {
    await store.put(["f"], "1", { status: "open", n: 1 });
    await store.put(["f"], "2", { status: "done", n: 2 });
    await store.put(["f"], "3", { status: "open", n: 3, flag: null });
    expect(keys(await store.search(["f"], { filter: { status: "open" } }))).toEqual(["1", "3"]);
    expect(keys(await store.search(["f"], { filter: { status: "open", n: 3 } }))).toEqual(["3"]);
    expect(keys(await store.search(["f"], { filter: { flag: null } }))).toEqual(["3"]);
    expect(keys(await store.search(["f"], { filter: { n: "1" } }))).toEqual([]);
  },
  async "A search filters by operators"(store) {
    for (const n of [1, 2, 10]) await store.put(["f"], String(n), { n, name: `n${n}` });
    await store.put(["f"], "none", { name: "none" });
    const found = async (condition: object) =>
      keys(await store.search(["f"], { filter: { n: condition } }));
    expect(await found({ $eq: 2 })).toEqual(["2"]);
    expect(await found({ $ne: 2 })).toEqual(["1", "10", "none"]);
    expect(await found({ $gt: 1 })).toEqual(["10", "2"]);
    expect(await found({ $gte: 2, $lt: 10 })).toEqual(["2"]);
    expect(await found({ $lte: 2 })).toEqual(["1", "2"]);
  },
  async "A filter compares times as times"(store) {
    await store.put(["t"], "old", { at: "2024-12-31T00:00:00Z" });
    await store.put(["t"], "new", { at: "2025-06-01T00:00:00Z" });
    expect(
      keys(await store.search(["t"], { filter: { at: { $gte: "2025-01-01T00:00:00Z" } } })),
    ).toEqual(["new"]);
  },
  async "A search returns pages, of ten items by default"(store) {
    for (let n = 0; n < 12; n++) await store.put(["p"], `k${n}`, { n });
    expect(await store.search(["p"])).toHaveLength(10);
    const all = (
      await Promise.all([0, 5, 10, 15].map((offset) => store.search(["p"], { limit: 5, offset })))
    ).flat();
    expect(new Set(keys(all)).size).toBe(12);
    expect(all).toHaveLength(12);
  },
  async "A search ranks by a query"(store) {
    await store.put(["q"], "tea", { text: "green tea with honey" });
    await store.put(["q"], "car", { text: "a red car with four doors" });
    await store.put(["q"], "dog", { text: "the dog barks at night" });
    const [first] = await store.search(["q"], { query: "green tea" });
    expect(first?.key).toBe("tea");
    expect(first?.score).toBeGreaterThan(0);
    const filter = { text: { $ne: "green tea with honey" } };
    const [filtered] = await store.search(["q"], { query: "green tea", filter });
    expect(filtered?.key).not.toBe("tea");
  },
  async "A query finds an item by the fields that its put names, elements of lists too"(store) {
    const chapters = [{ text: "about otters" }, { text: "about zebras" }];
    await store.put(["i"], "book", { title: "Animals", chapters, secret: "volcano" }, [
      "title",
      "chapters[*].text",
    ]);
    await store.put(["i"], "other", { title: "Cooking", secret: "pepper" }, ["title"]);
    expect((await store.search(["i"], { query: "zebras" }))[0]?.key).toBe("book");
    const [hidden] = await store.search(["i"], { query: "volcano", limit: 1 });
    expect(hidden?.score ?? 0).toBeLessThan(0.5);
  },
  async "An item that is not indexed is found by its name and by filters, not by queries"(store) {
    await store.put(["i"], "hidden", { text: "green tea" }, false);
    await store.put(["i"], "shown", { text: "green tea" });
    const ranked = (await store.search(["i"], { query: "green tea" })).filter(
      ({ score }) => score !== undefined,
    );
    expect(keys(ranked)).toEqual(["shown"]);
    expect(keys(await store.search(["i"]))).toEqual(["hidden", "shown"]);
  },
  async "A query no longer finds the words of a value that was replaced"(store) {
    await store.put(["i"], "k", { text: "green tea" });
    await store.put(["i"], "k", { text: "black coffee" });
    const [item] = await store.search(["i"], { query: "green tea" });
    expect(item?.score ?? 0).toBeLessThan(0.3);
  },
  async "Namespaces are listed by prefix, suffix, wildcards and depth, each once"(store) {
    for (const namespace of [["a", "b", "c"], ["a", "b", "d"], ["a", "x", "c"], ["z"]]) {
      await store.put(namespace, "k", { n: 1 });
      await store.put(namespace, "l", { n: 1 });
    }
    expect(await store.listNamespaces()).toEqual([
      ["a", "b", "c"],
      ["a", "b", "d"],
      ["a", "x", "c"],
      ["z"],
    ]);
    expect(await store.listNamespaces({ prefix: ["a", "*", "c"] })).toEqual([
      ["a", "b", "c"],
      ["a", "x", "c"],
    ]);
    expect(await store.listNamespaces({ suffix: ["c"] })).toEqual([
      ["a", "b", "c"],
      ["a", "x", "c"],
    ]);
    expect(await store.listNamespaces({ suffix: ["*", "d"] })).toEqual([["a", "b", "d"]]);
    expect(await store.listNamespaces({ maxDepth: 2 })).toEqual([["a", "b"], ["a", "x"], ["z"]]);
    expect(await store.listNamespaces({ prefix: ["a"], maxDepth: 1 })).toEqual([["a"]]);
    expect(await store.listNamespaces({ maxDepth: 2, limit: 1, offset: 1 })).toEqual([["a", "x"]]);
  },
  async "The last of several writes in a batch is kept"(store) {
    await store.batch([
      { namespace: ["b"], key: "k", value: { n: 1 } },
      { namespace: ["b"], key: "k", value: null },
      { namespace: ["b"], key: "k", value: { n: 3 } },
    ]);
    expect((await store.get(["b"], "k"))?.value).toEqual({ n: 3 });
  },
};

describe("the store of a memory", () => {
  for (const [what, expectation] of Object.entries(expectations))
    it(what, () => expectation(db.memory({ embeddings }).store(user())));
});
