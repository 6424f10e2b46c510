import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { metadataField } from "../../src/memories/item/memory-metadata.rule.js";
import { forAll } from "../support/for-all.js";
import { code } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const of = (userId: string) => ({ scope: { userId } });

describe("metadata", () => {
  it("Metadata is stored unchanged, found by containment and replaced by an update", async () => {
    const memory = db.memory();
    const metadata = { source: "crm", customer: { id: 42, tags: ["a", "b"] }, note: null };
    const ana = of("ana");
    const [added] = await memory.memories.add({
      ...ana,
      memories: { text: "Ana drinks green tea.", metadata },
    });
    await memory.memories.add({
      ...ana,
      memories: { text: "Ana drinks black coffee.", metadata: { source: "chat" } },
    });
    const id = added?.id as string;
    expect((await memory.memories.get({ ...ana, id }))?.metadata).toEqual(metadata);

    const listed = (filter: object) => memory.memories.list({ ...ana, metadata: filter as never });
    expect((await listed({ source: "crm" })).map((found) => found.id)).toEqual([id]);
    expect(await listed({ customer: { id: 42 } })).toHaveLength(1);
    expect(await listed({ customer: { id: 43 } })).toEqual([]);
    expect(await listed({})).toHaveLength(2);

    const hits = await memory.query({
      ...ana,
      query: "drinks",
      filters: { metadata: { source: "crm" } },
    });
    expect(hits.map((hit) => hit.memory.id)).toEqual([id]);
    expect(hits[0]?.memory.metadata).toEqual(metadata);

    const after = await memory.memories.update({ ...ana, id, metadata: { source: "erp" } });
    expect(after.metadata).toEqual({ source: "erp" });
  });

  it("A filter on metadata has at most 100 conditions, in queries and lists", async () => {
    const memory = db.memory();
    const metadata = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, n]));
    const refused = expect.objectContaining({
      code: "INVALID_INPUT",
      message: expect.stringContaining("101"),
    });
    await expect(
      memory.query({ ...of("ana"), query: "drinks", filters: { metadata } }),
    ).rejects.toThrow(refused);
    await expect(memory.memories.list({ ...of("ana"), metadata })).rejects.toThrow(refused);
  });

  it("Metadata is combined when a statement is repeated, within one batch too", async () => {
    const memory = db.memory();
    const ben = of("ben");
    const text = "Ben rows on Sundays.";
    const drafts = [{ a: 1 }, { b: 2 }].map((metadata) => ({ text, metadata }));
    const [one, two] = await memory.memories.add({ ...ben, memories: drafts });
    expect(two?.id).toBe(one?.id);
    await memory.memories.add({ ...ben, memories: { text, metadata: { a: 3, c: 4 } } });
    expect((await memory.memories.get({ ...ben, id: one?.id as string }))?.metadata).toEqual({
      a: 3,
      b: 2,
      c: 4,
    });
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.itself = cyclic;
  it.each([
    ["a list", [1]],
    ["text", "crm"],
    ["a date", { at: new Date() }],
    ["undefined", { at: undefined }],
    ["a number that JSON has not", { at: Number.NaN }],
    ["NUL", { at: "a\u0000b" }],
    ["half a surrogate pair as key", { "\ud800": 1 }],
    ["a prototype", JSON.parse('{"__proto__": 1}')],
    ["a circle", cyclic],
    ["too large", { at: "x".repeat(8_000) }],
    ["too deep", JSON.parse(`${'{"a":'.repeat(12)}1${"}".repeat(12)}`)],
  ])("Metadata that is %s is refused", async (_, metadata) => {
    const memory = db.memory();
    const draft = { text: "Eve sails.", metadata: metadata as never };
    await expect(memory.memories.add({ ...of("eve"), memories: draft })).rejects.toThrow(
      code("INVALID_INPUT"),
    );
    const query = { ...of("eve"), query: "sails", filters: { metadata: metadata as never } };
    await expect(memory.query(query)).rejects.toThrow(code("INVALID_INPUT"));
  });

  it("Any JSON object within the size limit is accepted unchanged as metadata", () =>
    forAll(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 }), (object) => {
      const plain = JSON.parse(JSON.stringify(object));
      const text = JSON.stringify(plain);
      fc.pre(text.length <= 8_000 && !text.includes("__proto__") && !text.includes("\\u0000"));
      expect(metadataField.parse(plain)).toEqual(plain);
    }));
});
