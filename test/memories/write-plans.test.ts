import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { planNodes, rowsOf } from "../support/query-plan.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const few = 50;
const times = 8;

const unlike = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => {
    const n = from + index;
    return { text: `word${n} term${n} lexeme${n}` };
  });

describe.each([
  { by: "words", options: {} },
  { by: "vectors", options: { embeddings: new HashingEmbeddings({ dimensions: 16 }) } },
])("the search before a write, by $by", ({ by, options }) => {
  const scope = { userId: by };
  const added = "nothing like it";
  /** Of a single session, which keeps what is prepared in it. */
  let pool: pg.Pool;
  let memory: Memory;

  /** The rows that the search before a write reads, by the plan that the session keeps. */
  async function rowsSearched(): Promise<number> {
    const { rows } = await pool.query(`explain (analyze, format json) execute ${await prepared()}`);
    return planNodes(rows).reduce((sum, node) => sum + rowsOf(node), 0);
  }

  let call: string | undefined;

  async function prepared(): Promise<string> {
    if (call !== undefined) return call;
    const { pool: watched, inTransactions } = watchedPool(pool);
    await db
      .memory({ ...options, database: watched })
      .memories.add({ scope, memories: { text: added } });
    const search = inTransactions.find(({ text }) => text.includes("candidate as"));
    if (!search) throw new Error("nothing was searched");
    await pool.query(`prepare "before a write, by ${by}" as ${search.text}`);
    call = `"before a write, by ${by}" (${literals(search.values)})`;
    return call;
  }

  /** `values` as SQL has them. */
  function literals(values: readonly unknown[]): string {
    const texts = values.map((value) =>
      Array.isArray(value) ? `{${value.map((each) => JSON.stringify(each))}}` : String(value),
    );
    return texts.map((text) => pg.escapeLiteral(text)).join(", ");
  }

  beforeAll(async () => {
    pool = onServer()
      ? new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 })
      : db.pool;
    await pool.query("set plan_cache_mode = force_generic_plan");
    memory = db.memory({ ...options, database: pool });
    await memory.setup();
  });

  afterAll(async () => {
    await pool.query("reset plan_cache_mode");
    await pool.query(`deallocate "before a write, by ${by}"`);
    if (onServer()) await pool.end();
  });

  it("The search before a write reads rows linearly in the memories, also as planned for an empty table", async () => {
    await prepared();
    await pool.query("analyze");
    await rowsSearched();
    await memory.memories.add({ scope, memories: unlike(0, few) });
    const before = await rowsSearched();
    await memory.memories.add({ scope, memories: unlike(few, few * times) });

    expect(await rowsSearched()).toBeLessThan(before * times * 2);
  });

  it("The search before a write finds a slot and a duplicate without reading all memories", async () => {
    await pool.query("analyze");
    const memories = few * times;
    // Each vector is read and compared; of the 64 nearest the memories are read.
    const compared = by === "vectors" ? memories + 3 * 64 : 0;

    expect(await rowsSearched()).toBeLessThan(compared + memories / 2);
  });
});

it("A batch reads each vector once, and looks up no slots for drafts without a key", async () => {
  const pool = onServer()
    ? new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 })
    : db.pool;
  const { pool: watched, inTransactions } = watchedPool(pool);
  const memory = db.memory({
    database: watched,
    embeddings: new HashingEmbeddings({ dimensions: 16 }),
  });
  const scope = { userId: "batches" };
  await memory.memories.add({ scope, memories: unlike(0, few) });
  inTransactions.length = 0;
  await memory.memories.add({ scope, memories: unlike(few, 2 * few) });
  const found = inTransactions.find(({ text }) => text.includes("candidate as"));

  const { rows } = await pool.query(`explain (analyze, format json) ${found?.text}`, found?.values);
  const counted = await pool.query(
    `select count(*)::int as vectors from "${db.schema}".memory_embedding`,
  );
  const { vectors } = counted.rows[0];
  if (onServer()) await pool.end();

  const nodes = planNodes(rows);
  const readOf = (table: string) =>
    nodes
      .filter((node) => node["Relation Name"] === table)
      .reduce((sum, node) => sum + rowsOf(node), 0);
  // Both batches are there by now. A table of few owners may be read whole, but no vector for each
  // memory of the batch.
  expect(readOf("memory_embedding")).toBeGreaterThanOrEqual(2 * few);
  expect(readOf("memory_embedding")).toBeLessThanOrEqual(vectors);
  const slots = nodes.filter(({ "Index Name": index }) => index?.startsWith("memory_slot"));
  expect(slots.reduce((sum, node) => sum + node["Actual Loops"], 0)).toBe(0);
});
