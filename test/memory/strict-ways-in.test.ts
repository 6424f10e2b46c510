import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { jwtScopes } from "../../packages/server/src/http/jwt-scopes.js";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import { mcpHandler } from "../../packages/server/src/mcp/mcp-handler.js";
import { createMcpServer } from "../../packages/server/src/mcp/memory-server.js";
import * as tools from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const secret = "a".repeat(32);

describe("misspelt keys", () => {
  it.each([
    [
      "memoryManageTool",
      tools.memoryManageTool,
      { action: "add", text: "The user eats figs.", kategory: "profile" },
    ],
    [
      "consentTool",
      tools.consentTool,
      { proposal: "1", decision: "refuse", quote: "no", resaon: "x" },
    ],
    ["procedureTool", tools.procedureTool, { title: "Tea", steps: "boil" }],
    ["transcriptSearchTool", tools.transcriptSearchTool, { query: "figs", kategory: "profile" }],
    ["endConversationTool", tools.endConversationTool, { reason: "done", resaon: "x" }],
  ])("%s refuses a misspelt key with an error for the model", async (_, make, args) => {
    const memory = db.memory();
    const run = { configurable: { user_id: randomUUID(), thread_id: randomUUID() } };
    const answer: string = await make(memory).invoke(args as never, run);
    expect(answer).toMatch(/unknown key "(?:kategory|resaon|steps)"/);
    const { user_id: userId } = run.configurable;
    expect(await memory.memories.list({ scope: { userId } })).toEqual([]);
  });

  it("LangGraph's store refuses a misspelt key", async () => {
    const store = db.memory().store({ scope });
    await store.put(["figs"], "k", { text: "figs" });
    const misspelt = store.search(["figs"], { fliter: { text: "x" } } as never);
    await expect(misspelt).rejects.toThrow('unknown key "fliter" (did you mean "filter"?)');
    await expect(store.listNamespaces({ prefixes: ["x"] } as never)).rejects.toThrow(
      'unknown key "prefixes"',
    );
    expect(await store.search(["figs"], { filter: { text: "figs" }, limit: 1 })).toHaveLength(1);
    expect(await store.listNamespaces({ prefix: ["figs"], suffix: ["figs"], maxDepth: 1 })).toEqual(
      [["figs"]],
    );
  });

  it("The servers refuse a misspelt key", () => {
    const memory = db.memory();
    const wrong: [() => unknown, string][] = [
      [
        () => createMcpServer(memory, { scope, agnet: "planner" } as never),
        'did you mean "agent"?',
      ],
      [() => mcpHandler(memory, { agnet: "planner" } as never), 'did you mean "agent"?'],
      [
        () => createMemoryApp(memory, { ratelimit: () => undefined } as never),
        'did you mean "rateLimit"?',
      ],
      [() => createMemoryApp(memory, { authenticate: "token" } as never), "must be a function"],
      [
        () => jwtScopes({ secret, audience: "a", callr: () => null } as never),
        'did you mean "caller"?',
      ],
    ];
    for (const [make, said] of wrong) expect(make).toThrow(said);
  });
});
