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
    ["without a thread", { user_id: "ana" }, "INVALID_INPUT"],
    ["with a blank thread", { thread_id: " ", user_id: "ana" }, "INVALID_INPUT"],
    ["of two users", { thread_id: "t", user_id: "ana", userId: "eve" }, "SCOPE_REQUIRED"],
  ])("A run %s is refused before any model call", async (__, configurable, code) => {
    const { model, graph } = await start("thread_id" in configurable ? {} : { checkpointer: null });
    await expect(run(graph, { configurable })).rejects.toMatchObject({ name: "MemoryError", code });
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
