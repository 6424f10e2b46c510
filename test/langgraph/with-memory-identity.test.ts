import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, answering, chatAgent, lines, newThread, say } from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();

describe.each(ways)("a run by %s", (way) => {
  const start = async () => {
    const memory = database.memory();
    const model = answering();
    return { memory, model, graph: await agentIn(way, { memory, model }) };
  };
  const run = (graph: AnyGraph, config: object) => say(graph, "hello", config);

  it.each<[string, Record<string, unknown>, string]>([
    ["without a scope", { thread_id: "t" }, "SCOPE_REQUIRED"],
    ["with a blank user", { thread_id: "t", user_id: "  " }, "SCOPE_REQUIRED"],
    ["with a user id that is a number", { thread_id: "t", user_id: 7 }, "SCOPE_REQUIRED"],
    ["with a blank app beside a user", { thread_id: "t", user_id: "ana", app_id: "" }, "SCOPE_REQUIRED"],
    ["with a blank thread", { thread_id: " ", user_id: "ana" }, "INVALID_INPUT"],
  ])("%s is refused before any model call", async (__, configurable, code) => {
    const { model, graph } = await start();
    await expect(run(graph, { configurable })).rejects.toMatchObject({ name: "MemoryError", code });
    expect(model.calls).toHaveLength(0);
  });

  it("on the thread of another user of the tenant is refused before any model call", async () => {
    const { model, graph, memory } = await start();
    const threadId = randomUUID();
    await run(graph, { configurable: { thread_id: threadId, user_id: "ana", tenant_id: "acme" } });
    await expect(
      run(graph, { configurable: { thread_id: threadId, user_id: "bob", tenant_id: "acme" } }),
    ).rejects.toMatchObject({ name: "MemoryError", code: "THREAD_FORBIDDEN" });
    expect(model.calls).toHaveLength(1);
    const { lastSeq } = await memory.recall({ scope: { userId: "ana", tenantId: "acme" }, threadId });
    expect(lastSeq).toBe(1);
  });

  it("is told by context and configurable together, by ids in either spelling", async () => {
    const { graph, memory } = await start();
    const [ana, thread] = [randomUUID(), randomUUID()];
    await graph.invoke(
      { messages: [new HumanMessage("hello")] },
      {
        configurable: { thread_id: thread, user_id: ana, appId: "notes" },
        context: { userId: ana, tenant_id: "acme" },
      },
    );
    expect(await memory.threads.list({ scope: { userId: ana, tenantId: "acme" } })).toMatchObject([
      { threadId: thread, scope: { userId: ana, tenantId: "acme", appId: "notes" } },
    ]);
  });

  it.each<[string, object]>([
    ["another spelling", { configurable: { userId: "victim" } }],
    ["context", { context: { userId: "victim" } }],
    ["context in the other spelling", { context: { user_id: "victim" } }],
    ["a user it says was authenticated", { configurable: { langgraph_auth_user: { identity: "victim" } } }],
    ["the id of such a user", { configurable: { langgraph_auth_user_id: "victim" } }],
  ])("whose client adds a user by %s is refused before any model call", async (__, added) => {
    const { model, graph } = await start();
    const { configurable, ...rest } = added as { configurable?: object };
    const config = {
      configurable: { thread_id: randomUUID(), user_id: "attacker", ...configurable },
      ...rest,
    };
    await expect(run(graph, config)).rejects.toMatchObject({ name: "MemoryError", code: "SCOPE_REQUIRED" });
    await expect(run(graph, config)).rejects.toThrow(/ambiguous/);
    expect(model.calls).toHaveLength(0);
  });

  it("is the authenticated user's, as a LangGraph server names it", async () => {
    const { graph, memory } = await start();
    const [ana, thread] = [randomUUID(), randomUUID()];
    const served = {
      thread_id: thread,
      user_id: ana,
      langgraph_auth_user: { identity: ana, tenant_id: "acme", permissions: [] },
      langgraph_auth_user_id: ana,
    };
    const configurable = { ...served, tenant_id: "other" };
    await expect(run(graph, { configurable })).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
    await run(graph, { configurable: served });
    expect(await memory.threads.list({ scope: { userId: ana, tenantId: "acme" } })).toMatchObject([
      { threadId: thread },
    ]);
  });
});

describe("a run without a thread", () => {
  it.each(ways)("is refused before any model call (%s)", async (way) => {
    const memory = database.memory();
    const model = answering();
    const graph = await agentIn(way, { memory, model, checkpointer: null });
    await expect(say(graph, "hello", { configurable: { user_id: "ana" } })).rejects.toMatchObject({
      name: "MemoryError",
      code: "INVALID_INPUT",
    });
    expect(model.calls).toHaveLength(0);
  });
});

it("the same thread id in another tenant is another thread", async () => {
  const memory = database.memory();
  const model = answering();
  const graph = withMemory(chatAgent(model), memory).compile();
  const { configurable } = newThread();
  for (const tenant_id of ["acme", "globex", "acme"]) {
    await say(graph, `from ${tenant_id}`, { configurable: { ...configurable, tenant_id } });
  }
  expect(lines(model.calls[1]!.messages)).toEqual(["human: from globex"]);
  expect(lines(model.calls[2]!.messages)).toEqual(["human: from acme", "ai: answer 1", "human: from acme"]);
});
