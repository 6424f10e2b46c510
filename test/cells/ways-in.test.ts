import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { createMemorySupervisor, memoryMiddleware, type Scope, withMemory } from "../../src/index.js";
import { createMcpServer } from "../../src/mcp/memory-server.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { httpClients } from "../http/http-client.js";
import { answering, chatAgent, lines, say } from "../langgraph/conversation.js";
import { useCells } from "../support/cells.js";
import { delegate, silentModel } from "../support/supervisor-fixture.js";

const on = useCells(2);
const scopes = (): Scope[] => [0, 1].map((cell) => ({ tenantId: on.tenantIn(cell), userId: "ana" }));

/** A run of a scope's; threads of both tenants bear the same id. */
const runOf = ({ tenantId, userId }: Scope, threadId: string) => ({
  configurable: { thread_id: threadId, tenant_id: tenantId, user_id: userId },
});

/** Rows of a table of a cell. */
const countIn = async (cell: number, table: string, where = "true") => {
  const { rows } = await on.pool.query(
    `select count(*)::int as n from "${on.schema}_c00${cell}".${table} where ${where}`,
  );
  return rows[0].n as number;
};

describe("over several cells", () => {
  it("graphs keep each thread's checkpoints and transcript in the cell of its tenant", async () => {
    const memory = on.memory();
    const graph = withMemory(chatAgent(answering()), memory).compile({ checkpointer: memory.checkpointer() });
    const thread = randomUUID();
    for (const [cell, scope] of scopes().entries()) {
      await say(graph, `I am of cell ${cell}.`, runOf(scope, thread));
      await say(graph, "And again.", runOf(scope, thread));
      const { values } = await graph.getState(runOf(scope, thread));
      expect(lines(values.messages)[0]).toBe(`human: I am of cell ${cell}.`);
      expect(await countIn(cell, "checkpoints")).toBeGreaterThan(0);
      expect(await countIn(cell, "message", `content like '%cell ${1 - cell}%'`)).toBe(0);
    }
    const [scope = {}] = scopes();
    const history = [];
    for await (const snapshot of graph.getStateHistory(runOf(scope, thread))) history.push(snapshot);
    const [{ config } = { config: {} }] = history.slice(-2);
    expect(await graph.getState(config)).toMatchObject({ values: expect.anything() });
    await graph.invoke(null, config);
    await memory.checkpoints.prune({ keepLast: 1 });
    await memory.threads.delete({ scope, threadId: thread });
    expect(await countIn(0, "checkpoints")).toBe(0);
    expect(await countIn(1, "checkpoints")).toBeGreaterThan(0);
  });

  it("a fork from an older checkpoint goes on with what was said in it", async () => {
    const memory = on.memory();
    const graph = withMemory(chatAgent(answering()), memory).compile({ checkpointer: memory.checkpointer() });
    const run = runOf({ tenantId: on.tenantIn(1), userId: "ana" }, randomUUID());
    for (const text of ["one", "two", "three"]) await say(graph, text, run);
    const ended: object[] = [];
    for await (const snapshot of graph.getStateHistory(run)) {
      if (snapshot.next.length === 0) ended.push(snapshot.config);
    }
    const forks = ["fork", "another"].map((text) => say(graph, text, ended.at(-1) ?? run));
    const said = (await Promise.all(forks)).map(({ messages }) => lines(messages).slice(2, 3));
    expect(said).toEqual([["human: fork"], ["human: another"]]);
    const { messages } = await say(graph, "on", run);
    expect(["human: fork", "human: another"]).toContain(lines(messages)[2]);
    expect(lines(messages)[4]).toBe("human: on");
  });

  it("a checkpointer that keeps nobody apart gives a thread to one, whose message a stranger's is not", async () => {
    const memory = on.memory();
    const model = answering();
    const graph = withMemory(chatAgent(model), memory).compile({ checkpointer: new MemorySaver() });
    const thread = randomUUID();
    const [mine = {}, theirs = {}] = scopes();
    await say(graph, "hello", runOf(mine, thread));
    await expect(say(graph, "evil", runOf(theirs, thread))).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    const again = withMemory(chatAgent(model), on.memory());
    expect(again).toBeDefined();
    const { messages } = await say(graph, "and now?", runOf(mine, thread));
    expect(lines(messages)).not.toContain("human: evil");
    expect(await countIn(1, "thread", `thread_id = '${thread}' and tenant_id <> ' '`)).toBe(0);
  });

  it("middleware, the supervisor and its tools find what their run's user has", async () => {
    const memory = on.memory();
    for (const scope of scopes()) {
      await memory.memories.add(
        { category: "tasks", text: `The release of ${scope.tenantId} is due.` },
        { scope },
      );
      const model = new ScriptedChatModel({ replies: ["Ok."] });
      const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
      await agent.invoke(
        { messages: [new HumanMessage("What of the release?")] },
        runOf(scope, randomUUID()) as never,
      );
      expect(JSON.stringify(model.calls)).toContain(`The release of ${scope.tenantId} is due.`);
      const main = new ScriptedChatModel({
        replies: [{ toolCalls: [delegate("planner", "Plan.")] }, "Ok."],
      });
      const planner = new ScriptedChatModel({
        replies: [{ toolCalls: [{ name: "memory_query", args: { query: "release" } }] }, "the plan"],
      });
      const supervisor = await createMemorySupervisor({
        ...{ memory, model: main },
        ...{ planner: { model: planner }, executor: { model: silentModel() } },
      });
      const run = runOf(scope, randomUUID());
      await supervisor
        .compile({ checkpointer: memory.checkpointer() })
        .invoke({ messages: [new HumanMessage("Plan it.")] }, run);
      expect(JSON.stringify(planner.calls)).toContain(`The release of ${scope.tenantId} is due.`);
    }
  });

  it("the HTTP API serves a user from the user's cell, and an operator from all", async () => {
    const [mine = {}, theirs = {}] = scopes();
    const memory = on.memory();
    const { ana, operator } = httpClients(memory, {
      ana: { role: "user", scope: mine },
      operator: { role: "operator" },
    });
    await memory.memories.add({ text: "Drinks tea." }, { scope: theirs });
    const added = await ana("POST", "/memories", { memories: [{ text: "Drinks coffee." }] });
    expect(added.status).toBeLessThan(300);
    const found = await ana("GET", "/memories");
    expect(JSON.stringify(found.body)).toContain("coffee");
    expect(JSON.stringify(found.body)).not.toContain("tea");
    const users = await operator("GET", "/users");
    expect(users.status).toBe(200);
    expect(users.body.users ?? users.body.items ?? users.body).toHaveLength(2);
    expect((await operator("GET", "/stats")).status).toBe(200);
  });

  it("a client of MCP has the memory of its scope", async () => {
    const memory = on.memory();
    const [, scope = {}] = scopes();
    await memory.memories.add({ text: "Collects stamps." }, { scope });
    const [here, there] = InMemoryTransport.createLinkedPair();
    const server = createMcpServer(memory, { scope });
    await server.connect(there);
    const client = new Client({ name: "a test", version: "1" });
    await client.connect(here);
    const result = await client.callTool({ name: "memory_query", arguments: { query: "stamps" } });
    expect(JSON.stringify(result)).toContain("Collects stamps.");
    await client.close();
  });

  it("a store sends each operation of a batch to the cell of its namespace", async () => {
    const memory = on.memory();
    const [one = {}, two = {}] = scopes();
    const store = memory.store({ scope: ([tenantId = ""]) => ({ tenantId, userId: "ana" }) });
    const put = (scope: Scope, n: number) => ({ namespace: [scope.tenantId ?? ""], key: "k", value: { n } });
    await store.batch([put(one, 1), put(two, 2)]);
    const got = await store.batch([
      { namespace: [two.tenantId ?? ""], key: "k" },
      { namespace: [one.tenantId ?? ""], key: "k" },
      { namespacePrefix: [two.tenantId ?? ""] },
    ]);
    expect(got).toMatchObject([{ value: { n: 2 } }, { value: { n: 1 } }, [{ value: { n: 2 } }]]);
    expect([await countIn(0, "store_item"), await countIn(1, "store_item")]).toEqual([1, 1]);
    const shared = memory.store();
    await shared.put(["anybody"], "k", { n: 3 });
    expect(await shared.search(["anybody"])).toHaveLength(1);
  });

  it("a process holds owners of every cell, and no more of them together than of one", async () => {
    const memory = on.memory();
    for (const scope of scopes()) {
      await memory.memories.add({ text: "Has a boat." }, { scope });
      for (let n = 0; n < 2; n++) await memory.recall({ scope, threadId: randomUUID(), query: "A boat?" });
    }
    await memory.idle();
    const { owners, mostBytes } = memory.held();
    expect(owners).toBe(2);
    expect(mostBytes).toBe(on.db.memory().held().mostBytes);
  });

  it("background graphs are run in the cell of the scope that they are given", async () => {
    const model = new ScriptedChatModel({
      replies: () => ({ structured: { reasoning: "…", summary: "They talked." } }),
    });
    const memory = on.memory({ model });
    const [, scope = {}] = scopes();
    const threadId = randomUUID();
    const messages = Array.from({ length: 8 }, (_, n) => ({ role: "user" as const, content: `Line ${n}` }));
    await memory.record({ scope, threadId, messages });
    const graph = memory.graphs().summarization;
    expect((await graph.getGraphAsync()).nodes).toHaveProperty("summarize");
    const { status } = await graph.invoke({ scope, threadId });
    expect(["completed", "skipped"]).toContain(status);
  });
});
