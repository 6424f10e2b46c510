import { describe, expect, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useSchemaNames } from "../support/fresh-schema.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts } from "../support/thread-facts.js";

const db = useTestDatabase();
const schemaName = useSchemaNames(db);

/**
 * Another model, of another name, which knows what "automobile" means. It can be told to fail, and
 * says how many texts it was given at a time.
 */
class NewModel extends HashingEmbeddings {
  // @ts-expect-error: the base names its own model for good
  override readonly model: string;
  readonly batches: number[] = [];
  failAfter = Number.POSITIVE_INFINITY;
  meanwhile: () => Promise<unknown> = async () => {};

  constructor(model = "new", dimensions = 48) {
    super({ dimensions });
    this.model = model;
  }

  override async embedDocuments(documents: string[]) {
    if (this.batches.length >= this.failAfter)
      throw Object.assign(new Error("quota used up"), { status: 402 });
    this.batches.push(documents.length);
    await this.meanwhile();
    return super.embedDocuments(documents);
  }

  override async embedQuery(document: string) {
    return super.embedQuery(document.replace("automobile", "car"));
  }
}

/**
 * A schema of its own, as re-embedding is of all scopes, with `count` memories that
 * `HashingEmbeddings` embedded.
 */
async function schemaWith(count: number) {
  const schema = schemaName();
  const scope = { userId: "ana" };
  const old = db.memory({ schema, embeddings: new HashingEmbeddings({ dimensions: 64 }) });
  await old.setup();
  const texts = Array.from(
    { length: count },
    (_, index) => `Ana keeps box ${index} in cellar ${index * 7}.`,
  );
  if (count > 0) await old.memories.add({ scope, memories: asDrafts(texts) });
  const vectorsOf = async (space: string) => {
    const { rows } = await db.pool.query(
      `select m.content from "${schema}".memory_embedding e join "${schema}".memory m on m.ref = e.memory_ref
       join "${schema}".embedding_space s on s.id = e.space_ref where s.name = $1 and e.active order by m.ref`,
      [space],
    );
    return rows.map((row) => row.content as string);
  };
  return { schema, scope, old, texts, vectorsOf };
}

describe("reembed", () => {
  it("`reembed` makes memories of an older model findable by the vectors of a new one", async () => {
    const { schema, scope, old, vectorsOf } = await schemaWith(0);
    await old.memories.add({ scope, memories: { text: "Ana bought an old car." } });
    const memory = db.memory({ schema, embeddings: new NewModel("new", 384) });
    // No word is alike.
    const byMeaning = { scope, query: "automobile" };
    expect(await memory.query(byMeaning)).toEqual([]);
    expect(await memory.query({ scope, query: "bought" })).toMatchObject([
      { memory: { text: "Ana bought an old car." } },
    ]);

    expect(await memory.reembed()).toEqual({
      space: "new",
      dimensions: 384,
      embedded: 1,
      remaining: 0,
    });

    expect(await memory.query(byMeaning)).toMatchObject([
      { memory: { text: "Ana bought an old car." } },
    ]);
    expect(await vectorsOf("hashing-1")).toHaveLength(1);
    expect(await memory.reembed()).toMatchObject({ embedded: 0, remaining: 0 });
  });

  it("`reembed` resumes after an interruption", async () => {
    const { schema, texts, vectorsOf } = await schemaWith(23);
    const broken = new NewModel();
    broken.failAfter = 3;
    await expect(
      db.memory({ schema, embeddings: broken }).reembed({ batchSize: 5 }),
    ).rejects.toMatchObject({
      code: "EMBEDDING_FAILED",
      message: "The embeddings failed: Error (402): quota used up",
    });
    expect(await vectorsOf("new")).toEqual(texts.slice(0, 10));

    const model = new NewModel();
    const progress: string[] = [];
    const result = await db.memory({ schema, embeddings: model }).reembed({
      batchSize: 5,
      onProgress: ({ done, total }) => progress.push(`${done}/${total}`),
    });
    expect(result).toMatchObject({ embedded: 13, remaining: 0 });
    expect(progress).toEqual(["0/13", "5/13", "10/13", "13/13"]);
    expect(model.batches).toEqual([1, 5, 5, 3]);
    expect(await vectorsOf("new")).toEqual(texts);
  });

  it("`reembed` skips hidden memories and embeds restored ones", async () => {
    const { schema, scope, vectorsOf } = await schemaWith(2);
    const memory = db.memory({ schema, embeddings: new NewModel() });
    const plain = db.memory({ schema });
    const [second] = await memory.memories.list({ scope });
    await memory.memories.remove({ scope, id: second!.id });
    expect(await memory.reembed()).toMatchObject({ embedded: 1 });
    await plain.memories.restore({ scope, id: second!.id });
    expect(await memory.reembed()).toMatchObject({ embedded: 1, remaining: 0 });
    expect(await vectorsOf("new")).toContain(second!.text);
  });

  it("`reembed` never stores the vector of a text that changed meanwhile", async () => {
    const { schema, scope, old, vectorsOf } = await schemaWith(3);
    const model = new NewModel();
    const [changed] = await old.memories.list({ scope });
    const text = "Ana moved to Porto.";
    model.meanwhile = async () => {
      if (model.batches.length === 2) await old.memories.update({ scope, id: changed!.id, text });
    };
    const memory = db.memory({ schema, embeddings: model });
    expect(await memory.reembed()).toMatchObject({ embedded: 3, remaining: 0 });
    expect(model.batches).toEqual([1, 3, 1]);
    expect(await vectorsOf("new")).toContain(text);
    const [hit] = await memory.query({ scope, query: text, topK: 1 });
    expect(hit?.similarity).toBeGreaterThan(0.99);
  });

  it("`reembed` embeds a text that was changed with another model", async () => {
    const { schema, scope, old, vectorsOf } = await schemaWith(1);
    const memory = db.memory({ schema, embeddings: new NewModel() });
    const [known] = await memory.memories.list({ scope });
    await memory.memories.update({ scope, id: known!.id, text: "Ana moved to Porto." });
    expect(await vectorsOf("hashing-1")).toEqual([]);
    expect(await old.reembed()).toMatchObject({ space: "hashing-1", embedded: 1 });
    expect(await vectorsOf("hashing-1")).toEqual(["Ana moved to Porto."]);
  });

  it("Two concurrent runs of reembed embed each memory once", async () => {
    const { schema, texts, vectorsOf } = await schemaWith(12);
    const runs = [1, 2].map(() =>
      db.memory({ schema, embeddings: new NewModel() }).reembed({ batchSize: 4 }),
    );
    // What one of them is storing at its end still remains for the other.
    const results = await Promise.all(runs);
    expect(results.reduce((sum, { embedded }) => sum + embedded, 0)).toBe(12);
    expect(await vectorsOf("new")).toEqual(texts);
  });

  it("`reembed` needs embeddings, and a batch size in range", async () => {
    const { schema } = await schemaWith(0);
    const invalid = { code: "INVALID_INPUT" };
    await expect(db.memory({ schema }).reembed()).rejects.toMatchObject(invalid);
    const memory = db.memory({ schema, embeddings: new NewModel() });
    for (const batchSize of [0, 1.5, 1_001])
      await expect(memory.reembed({ batchSize })).rejects.toMatchObject(invalid);
  });
});

it("Without embeddings, setup creates no vector tables, and reembed asks for setup", async () => {
  const schema = schemaName();
  const memory = db.memory({ schema });
  expect((await memory.setup()).join()).not.toContain("embeddings");
  const { rows } = await db.pool.query("select tablename from pg_tables where schemaname = $1", [
    schema,
  ]);
  const tables = rows.map((row) => row.tablename as string);
  expect(tables).toContain("memory");
  expect(tables.filter((table) => /embedding|vector/.test(table))).toEqual([]);

  await expect(db.memory({ schema, embeddings: new NewModel() }).reembed()).rejects.toMatchObject({
    code: "SETUP_REQUIRED",
  });
});
