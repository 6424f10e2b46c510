import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { type WatchedStatement, watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const threadId = "years of talk";
const facts = 400;

interface PlanNode {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanNode[];
}

/** The most rows that any step of the statement looked at. */
async function mostRows({ text, values }: WatchedStatement): Promise<number> {
  const { rows } = await db.pool.query(`explain (analyze, format json) ${text}`, values);
  const most = (node: PlanNode): number =>
    Math.max(
      (node["Actual Rows"] + (node["Rows Removed by Join Filter"] ?? 0)) * node["Actual Loops"],
      ...(node.Plans ?? []).map(most),
    );
  return most(rows[0]["QUERY PLAN"][0].Plan);
}

beforeAll(async () => {
  const said = Array.from({ length: facts }, (_, index) => `Visit ${index}: the garden of friend ${index}`);
  await db.memory().record({ scope, threadId, messages: said.map((text) => new HumanMessage(text)) });
  const memory = db.memory();
  for (let start = 0; start < facts; start += 100) {
    await memory.memories.add(
      said.slice(start, start + 100).map((text, index) => ({
        text: `Went there, ${text}`,
        source: { threadId, seqs: [start + index] },
      })),
      { scope },
    );
  }
  await db.pool.query("analyze");
});

it("does not look at every fact for every message of the thread that it was learned in", async () => {
  const { pool, statements } = watchedPool(db.pool);
  const memory = db.memory({ database: pool });
  await memory.query({ scope, query: "Whose garden was visited?" });
  await memory.recall({ scope, threadId, query: "Whose garden was visited?" });
  await memory.transcript.search({ scope, query: "Whose garden was visited?" });

  expect(statements.length).toBe(3);
  for (const statement of statements) {
    const rows = await mostRows(statement);
    // Each message is looked at for itself and its four neighbours, once for each of the three words.
    expect(rows).toBeGreaterThanOrEqual(facts);
    expect(rows).toBeLessThanOrEqual(facts * 5 * 3);
  }
});
