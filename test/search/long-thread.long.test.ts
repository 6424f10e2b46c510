import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { type PlanNode, planNodes } from "../support/query-plan.js";
import { useTestDatabase } from "../support/test-database.js";
import { type WatchedStatement, watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const facts = 400;
const question = "Whose garden was visited?";

/** The steps of the statement, by the plan that is kept for all values. */
async function stepsOf({ text, values }: WatchedStatement): Promise<PlanNode[]> {
  const client = await db.pool.connect();
  try {
    await client.query("set plan_cache_mode = force_generic_plan");
    const { rows } = await client.query(`explain (analyze, format json) ${text}`, values);
    return planNodes(rows);
  } finally {
    await client.query("reset plan_cache_mode");
    client.release();
  }
}

/** The most rows that any step of the statement compared in vain. */
async function mostCompared(statement: WatchedStatement): Promise<number> {
  return Math.max(0, ...(await stepsOf(statement)).map(compared));
}

/** How many rows the CTE `name` of the statement gave. */
async function rowsGiven(statement: WatchedStatement, name: string): Promise<number | undefined> {
  const steps = await stepsOf(statement);
  return steps.find((step) => step["Subplan Name"] === `CTE ${name}`)?.["Actual Rows"];
}

function compared(node: PlanNode): number {
  return (node["Rows Removed by Join Filter"] ?? 0) * node["Actual Loops"];
}

/** A user who said `facts` things in `threads` threads, each of them learned: from there, or nobody knows from where. */
async function talk(userId: string, threads: number, from: "there" | "nowhere" = "there") {
  const memory = db.memory();
  const said = Array.from({ length: facts }, (_, index) => `Visit ${index}: the garden of friend ${index}`);
  const each = facts / threads;
  for (let thread = 0; thread < threads; thread++) {
    const texts = said.slice(thread * each, (thread + 1) * each);
    const address = { scope: { userId }, threadId: `${userId} ${thread}` };
    await memory.record({ ...address, messages: texts.map((text) => new HumanMessage(text)) });
    await memory.memories.add(
      texts.map((text, index) => ({
        text: `Went there, ${text}`,
        ...(from === "there" && { source: { threadId: address.threadId, seqs: [index] } }),
      })),
      address,
    );
  }
}

async function statementsOf(userId: string): Promise<WatchedStatement[]> {
  const { pool, statements } = watchedPool(db.pool);
  const memory = db.memory({ database: pool });
  const scope = { userId };
  await memory.query({ scope, query: question });
  await memory.recall({ scope, threadId: `${userId} 0`, query: question });
  await memory.transcript.search({ scope, query: question });
  return statements;
}

beforeAll(async () => {
  await talk("one thread", 1);
  await talk("many threads", 100);
  await talk("one thread without facts", 1, "nowhere");
  await talk("one thread with a fact", 1, "nowhere");
  const learned = { threadId: "one thread with a fact 0", seqs: [0] };
  const scope = { userId: "one thread with a fact" };
  await db.memory().memories.add({ text: "Likes the gardens of friends", source: learned }, { scope });
  // To the planner, no word is said more than once or twice.
  const rare = Array.from({ length: 500 }, (_, index) => ({
    text: `word${index} term${index} lexeme${index}`,
  }));
  await db.memory().memories.add(rare, { scope: { userId: "other" } });
});

describe.each(["without", "with"])("%s statistics of the tables", (statistics) => {
  beforeAll(async () => {
    if (statistics === "with") await db.pool.query("analyze");
  });

  it.each(["one thread", "many threads", "one thread without facts"])(
    "a search of %s compares nothing with everything",
    async (userId) => {
      const statements = await statementsOf(userId);

      expect(statements.length).toBe(3);
      for (const statement of statements) expect(await mostCompared(statement)).toBeLessThan(facts * 20);
    },
  );
});

it("a recall scores no messages where nothing was learned from them, and else those alone", async () => {
  const recallOf = async (userId: string) => (await statementsOf(userId))[1] as WatchedStatement;

  expect(await rowsGiven(await recallOf("one thread without facts"), "message_word")).toBe(0);
  expect(await rowsGiven(await recallOf("one thread"), "message_word")).toBeGreaterThan(0);
  expect(await rowsGiven(await recallOf("one thread with a fact"), "message_score")).toBe(1);
});
