import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import sql from "sql-template-tag";
import { describe, expect, inject, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import type { MemoryFilter } from "../../src/search/memory-filter.rule.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

it("Prepared statements can be used again after any statement failed", async () => {
  const prepared = () =>
    db.database.query<{ n: number }>(sql`select ${7}::int as n`, { prepare: true });
  expect(await prepared()).toEqual([{ n: 7 }]);
  await expect(db.database.query(sql`select no_such_column`)).rejects.toThrow();
  expect(await prepared()).toEqual([{ n: 7 }]);
  expect(await prepared()).toEqual([{ n: 7 }]);
});

describe("statements that a session keeps", () => {
  /** A plan takes about a megabyte of the session. */
  const fewDozen = 48;

  const filters: Required<Omit<MemoryFilter, "user_id">> = {
    agent_id: "planner",
    run_id: "r",
    actor_id: "bob",
    role: "user",
    category: "knowledge",
    pinned: false,
    importance_min: 1,
    importance_max: 5,
    updated_after: "2020-01-01",
    updated_before: new Date("2040-01-01"),
    metadata: { source: "crm" },
  };
  const names = Object.keys(filters) as (keyof typeof filters)[];
  const scopes = [{ userId: "ana" }, { appId: "notes" }, { userId: "ana", appId: "notes" }];
  const queries = ["zebra", "What happened on 25 May 2022?", "", "who ".repeat(99), "a b c d e f"];
  const pick = <Item>(items: readonly Item[], n: number) => items[n % items.length] as Item;

  /** The reads and writes of a turn, with the `n`th set of filters. */
  async function ask(memory: Memory, n: number): Promise<void> {
    const set = names.filter((_, bit) => (n >> bit) & 1);
    const scope = pick(scopes, n);
    const query = pick(queries, n);
    await memory.query({
      scope,
      query,
      filters: Object.fromEntries(set.map((name) => [name, filters[name]])),
      ...(n % 7 === 0 && { categories: ["knowledge", "goals"].slice(n % 2) }),
      ...(n % 11 === 0 && { kinds: ["fact"] as const }),
      ...(n % 13 === 0 && { topK: 100 }),
    });
    if (n % 16 > 0) return;
    const threadId = `thread ${n % 5}`;
    await memory.recall({ scope, threadId, query, ...(n % 3 === 0 && { messageIds: ["m"] }) });
    await memory.transcript.search({ scope, query, ...(n % 32 === 0 && { threadId }) });
    const own = `${JSON.stringify(scope)} ${threadId}`;
    await memory.record({ scope, threadId: own, messages: [new HumanMessage(`hello ${n}`)] });
    await memory.memories.add({ scope, memories: { text: `Knows the number ${n}.` } });
  }

  it("A session keeps a few dozen prepared statements, with any filters", async () => {
    const pool = onServer()
      ? new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 })
      : db.pool;
    const embeddings = new HashingEmbeddings({ dimensions: 8 });
    const memories = [db.memory({ database: pool }), db.memory({ database: pool, embeddings })];
    await memories[1]?.setup();
    const kept = async () => {
      const { rows } = await pool.query(
        "select count(*)::int as count from pg_prepared_statements where name like 'mnemograph%'",
      );
      return rows[0].count as number;
    };
    const before = await kept();
    for (let n = 0; n < 2 ** names.length; n++) await ask(pick(memories, n >> 4), n);
    const after = await kept();
    expect(after).toBeGreaterThan(before);
    expect(after - before).toBeLessThanOrEqual(fewDozen);
    if (onServer()) await pool.end();
  });
});
