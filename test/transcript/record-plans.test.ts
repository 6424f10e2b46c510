import { AIMessage, HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { planNodes, rowsOf } from "../support/query-plan.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { type WatchedStatement, watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const thread = { scope: { userId: "ana" }, threadId: "t" };
const rounds = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => [
    new HumanMessage({ id: `q${from + n}`, content: `question${from + n}` }),
    new AIMessage({ id: `a${from + n}`, content: `answer${from + n}` }),
  ]).flat();

/** One session, which keeps prepared statements. */
let pool: pg.Pool;
let memory: Memory;
let recorded: WatchedStatement;

/** `value` as SQL, with a new id for the recorded message. */
function literal(value: unknown): string {
  if (value === null) return "null";
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  const items = value.map((item) =>
    item === null ? "null" : `"${String(item === "q0" ? "new" : item).replace(/["\\]/g, "\\$&")}"`,
  );
  return pg.escapeLiteral(`{${items.join()}}`);
}

/** Rows read by the generic plan of recording one more turn, rolled back. */
async function rowsRead(): Promise<number> {
  for (const statement of ["analyze", "begin"]) await pool.query(statement);
  try {
    const call = `execute "a round" (${recorded.values.map(literal).join(", ")})`;
    const { rows } = await pool.query(`explain (analyze, format json) ${call}`);
    return planNodes(rows).reduce((sum, node) => sum + rowsOf(node), 0);
  } finally {
    await pool.query("rollback");
  }
}

beforeAll(async () => {
  pool = onServer()
    ? new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 })
    : db.pool;
  await pool.query("set plan_cache_mode = force_generic_plan");
  const { pool: watched, inTransactions } = watchedPool(pool);
  memory = db.memory({ database: watched });
  await memory.record({ ...thread, messages: rounds(0, 1).slice(0, 1) });
  // The first statement of a memory checks the schema.
  recorded = inTransactions.find(({ text }) => text.includes("fresh as")) as WatchedStatement;
  await pool.query(`prepare "a round" as ${recorded.text}`);
});

afterAll(async () => {
  await pool.query("reset plan_cache_mode");
  await pool.query(`deallocate "a round"`);
  if (onServer()) await pool.end();
});

it("Recording a turn reads no more rows of a longer thread", async () => {
  await memory.record({ ...thread, messages: rounds(1, 50) });
  const before = await rowsRead();
  await memory.record({ ...thread, messages: rounds(51, 400) });

  expect(await rowsRead()).toBeLessThan(before * 1.1);
});

it("A thread has as many turns as users' messages, however often these are recorded", async () => {
  const one = { scope: thread.scope, threadId: "again" };
  for (const from of [0, 1]) await memory.record({ ...one, messages: rounds(from, 2) });
  await memory.record({ ...one, messages: rounds(0, 3) });

  const { rows } = await pool.query(
    `select turns from "${db.schema}".thread where thread_id = 'again'`,
  );
  expect(rows).toEqual([{ turns: 3 }]);
});
