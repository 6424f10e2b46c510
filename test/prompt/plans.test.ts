import { beforeAll, describe, expect, it } from "vitest";
import { shownBy } from "../../src/prompt/shown-by.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { type PlanNode, planNodes } from "../support/query-plan.js";
import { round } from "../support/spoken.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { type WatchedStatement, watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const original = { scope, threadId: "original" };

/** Tables that this test fills. */
const filled = new Set(["message", "message_term", "summary", "thread"]);

/** Reads every row; a partial index may be read whole. */
const readsAll = (plan: PlanNode) =>
  plan["Node Type"] === "Seq Scan" ||
  (/_pkey$/.test(plan["Index Name"] ?? "") && plan["Index Cond"] === undefined);

/**
 * "Seq Scan on message" and so on, also by an index, in the custom plan and in the generic one,
 * which own pools keep.
 */
async function fullScans({ text, values }: WatchedStatement): Promise<string[]> {
  const client = await db.pool.connect();
  try {
    const custom = await client.query(`explain (format json) ${text}`, values);
    await client.query("set plan_cache_mode = force_generic_plan");
    await client.query(`prepare watched as ${text}`);
    const nothing = values.length > 0 ? `(${values.map(() => "null").join(", ")})` : "";
    return [custom, await client.query(`explain (format json) execute watched${nothing}`)]
      .flatMap(({ rows }) => planNodes(rows))
      .filter((node) => filled.has(node["Relation Name"] ?? "") && readsAll(node))
      .map((node) => `${node["Node Type"]} on ${node["Relation Name"]}`);
  } finally {
    client.release(true);
  }
}

/** All columns of a table but generated ones, with some replaced. */
async function copied(
  table: string,
  replaced: Record<string, string>,
): Promise<{ into: string; from: string }> {
  const { rows } = await db.pool.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = $1 and table_name = $2 and is_identity = 'NO' and is_generated = 'NEVER'`,
    [db.schema, table],
  );
  const names = rows.map((row) => row.name);
  return {
    into: names.join(", "),
    from: names.map((name) => replaced[name] ?? `o.${name}`).join(", "),
  };
}

describe.skipIf(!onServer())("a thousand threads of a hundred messages (server only)", () => {
  beforeAll(async () => {
    const messages = Array.from({ length: 50 }, (_, index) => round(`r${index}`)).flat();
    const memory = db.memory({ model: new OfflineChatModel() });
    await memory.remember({ ...original, messages });
    const users = Array.from({ length: 100 }, (_, user) => `user ${user}`);
    for (const userId of users)
      await memory.record({ scope: { userId }, threadId: userId, messages: [] });
    const table = (name: string) => `"${db.schema}".${name}`;
    const user = "'user ' || n % 100";
    const thread = await copied("thread", {
      thread_id: "'copy ' || n",
      user_id: user,
      owner_ref: `(select u.owner_ref from ${table("thread")} u where u.thread_id = ${user})`,
    });
    await db.pool.query(
      `insert into ${table("thread")} (${thread.into})
       select ${thread.from} from ${table("thread")} o, generate_series(1, 999) n where o.thread_id = 'original'`,
    );
    for (const name of ["message", "message_term", "summary"]) {
      const { into, from } = await copied(name, { thread_ref: "c.id", owner_ref: "c.owner_ref" });
      await db.pool.query(
        `insert into ${table(name)} (${into}) select ${from}
         from ${table("thread")} c, ${table(name)} o join ${table("thread")} t on t.id = o.thread_ref
         where c.thread_id like 'copy %' and t.thread_id = 'original'`,
      );
    }
    await db.pool.query("analyze");
  });

  it("No statement of a turn reads a whole table", async () => {
    const { pool, statements, inTransactions } = watchedPool(db.pool);
    const memory = db.memory({ database: pool, model: new OfflineChatModel() });
    await memory.memories.add({
      scope,
      memories: { text: "asked for r0", source: { threadId: original.threadId, seqs: [0] } },
    });
    await memory.recall(original);
    await memory.remember({ ...original, messages: [...round("new 1"), ...round("new 2")] });
    await memory.recall({ scope, threadId: "unknown" });
    await memory.recall({ ...original, query: "What was the answer of r7?" });
    await memory.query({ scope, query: "What was the answer of r7 in May 2024?" });
    await memory.transcript.search({ scope, query: "What was the answer of r7 in May 2024?" });
    await memory.summaries.list(original);
    await memory.threads.list({ scope });
    await memory.upkeep();

    const work = [...statements, ...inTransactions].filter(({ text }) => /select/.test(text));
    expect(work.length).toBeGreaterThanOrEqual(14);
    const found = await Promise.all(
      work.map(async (statement) => ({
        statement: statement.text.replace(/\s+/g, " ").slice(0, 60),
        scans: await fullScans(statement),
      })),
    );
    expect(found.filter((each) => each.scans.length > 0)).toEqual([]);
  });

  it("No statement of a turn, nor of a question to the past, is planned at a cost for which the server compiles it", async () => {
    const { pool, statements } = watchedPool(db.pool);
    const memory = db.memory({ database: pool, model: new OfflineChatModel() });
    const turn = { ...original, query: "What was the answer of r7?" };
    const recalled = await memory.recall(turn);
    await memory.remember({ ...original, messages: round("new 3"), shown: shownBy(recalled) });
    await memory.query({ scope, query: turn.query });
    statements.length = 0;
    await memory.recall(turn);
    await memory.query({ scope, query: turn.query });
    await memory.query({ scope, query: turn.query, asOf: new Date() });
    await memory.memories.list({ scope, asOf: new Date() });
    const [last] = await memory.threads.shown(original);
    await memory.threads.replay({ ...original, turn: last!.turn });

    const { rows: limits } = await db.pool.query<{ cost: number }>(
      "select boot_val::float8 as cost from pg_settings where name = 'jit_above_cost'",
    );
    const costs = await Promise.all(
      statements.map(async ({ text, values }) => {
        const { rows } = await db.pool.query(`explain (format json) ${text}`, values);
        const statement = text.replace(/\s+/g, " ").slice(0, 60);
        return { statement, cost: planNodes(rows)[0]!["Total Cost"] };
      }),
    );
    expect(costs.length).toBeGreaterThanOrEqual(6);
    expect(costs.filter(({ cost }) => cost >= limits[0]!.cost)).toEqual([]);
  });
});
