import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, answering, say } from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();

describe.each(ways)("a run by %s", (way) => {
  const start = async (options: { checkpointer?: null } = {}) => {
    const memory = database.memory();
    const model = answering();
    return { memory, model, graph: await agentIn(way, { memory, model, ...options }) };
  };
  const run = (graph: AnyGraph, config: object) => say(graph, "hello", config);

  it.each<[string, Record<string, unknown>, string]>([
    ["without a scope", { thread_id: "t" }, "SCOPE_REQUIRED"],
    ["with a blank user", { thread_id: "t", user_id: "  " }, "SCOPE_REQUIRED"],
    [
      "with a blank app beside a user",
      { thread_id: "t", user_id: "ana", app_id: "" },
      "SCOPE_REQUIRED",
    ],
    ["without a thread", { user_id: "ana" }, "INVALID_INPUT"],
    ["with a blank thread", { thread_id: " ", user_id: "ana" }, "INVALID_INPUT"],
  ])("A run %s is refused before any model call", async (__, configurable, code) => {
    const { model, graph } = await start("thread_id" in configurable ? {} : { checkpointer: null });
    await expect(run(graph, { configurable })).rejects.toMatchObject({ name: "MemoryError", code });
    expect(model.calls).toHaveLength(0);
  });

  it.each<[string, object]>([
    ["another spelling", { configurable: { userId: "victim" } }],
    ["context", { context: { userId: "victim" } }],
    [
      "a user it says was authenticated",
      { configurable: { langgraph_auth_user: { identity: "victim" } } },
    ],
  ])("A run whose client adds a user by %s is refused before any model call", async (__, added) => {
    const { model, graph } = await start();
    const { configurable, ...rest } = added as { configurable?: object };
    const config = {
      configurable: { thread_id: randomUUID(), user_id: "attacker", ...configurable },
      ...rest,
    };
    await expect(run(graph, config)).rejects.toMatchObject({
      name: "MemoryError",
      code: "SCOPE_REQUIRED",
    });
    await expect(run(graph, config)).rejects.toThrow(/ambiguous/);
    expect(model.calls).toHaveLength(0);
  });

  it("A run belongs to the authenticated user, as a LangGraph server names it", async () => {
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
