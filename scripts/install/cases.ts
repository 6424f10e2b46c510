/** What a project has already, and the page by which it adds the package. */
export interface InstallCase {
  /** Packages that are installed first, with their versions. */
  readonly has: readonly string[];
  /** A page of docs, or README. */
  readonly page: string;
  readonly manager?: "pnpm" | "yarn";
  /** What runs after the page's first program. */
  readonly also?: "serve" | "queue";
  /** Whether CI runs it too; `--all` runs every case. */
  readonly inCi?: true;
}

/** The two ends of each peer's range, and what common projects have. */
export const installCases: readonly InstallCase[] = [
  { has: ["ai@7"], page: "ai-sdk", inCi: true },
  { has: ["ai@6"], page: "ai-sdk" },
  { has: ["pg-boss@12"], page: "workers", also: "queue", inCi: true },
  { has: ["pg-boss@10"], page: "workers", also: "queue" },
  { has: ["@electric-sql/pglite@latest"], page: "README", inCi: true },
  { has: ["hono@4", "@hono/node-server@2"], page: "http", also: "serve", inCi: true },
  { has: ["hono@4", "@hono/node-server@1"], page: "http", also: "serve" },
  { has: ["zod@3"], page: "README" },
  { has: ["zod@4"], page: "README" },
  // LangGraph's template of an agent in JavaScript, raised to what this package needs.
  {
    has: [
      ...["@langchain/anthropic@1", "@langchain/core@1", "@langchain/openai@1", "langchain@1"],
      ...["@langchain/langgraph@1", "zod@4", "dotenv@17", "typescript@6", "@types/node@26"],
    ],
    page: "create-agent",
  },
  { has: ["@langchain/core@1", "@langchain/langgraph@1"], page: "state-graph" },
  { has: [], page: "README", manager: "pnpm", inCi: true },
  { has: [], page: "README", manager: "yarn" },
];

/** Compilers that read the package's declarations, each with both ways to resolve modules. */
export const compilers = ["5.6", "5.9", "7.0"] as const;
export const resolutions = ["bundler", "nodenext"] as const;

/**
 * Waits for a fact that a worker learns from pg-boss's queue. Queues need a server, which
 * DATABASE_URL names.
 */
export const queueProgram = `
import { createMemory } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";
import pg from "pg";

const config = { preset: "every-round" } as const;
const schema = "installed_" + process.pid;
const queue = schema + "_queue";
const database = process.env.DATABASE_URL;
const jobs = { pgBoss: { schema: queue } };
const memory = createMemory({ database, schema, model: new OfflineChatModel(), config, jobs });
await memory.setup();
const scope = { userId: "ana" };
const worker = await memory.work();
await memory.remember({
  scope,
  threadId: "queued",
  messages: [{ role: "user", content: "I am allergic to peanuts." }],
});
let facts = await memory.memories.list({ scope });
while (facts.length === 0) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  facts = await memory.memories.list({ scope });
}
console.log(facts[0]?.text);
await worker.stop();
await memory.close();
const client = new pg.Client(database);
await client.connect();
for (const name of [schema, queue]) await client.query('drop schema "' + name + '" cascade');
await client.end();
`;
