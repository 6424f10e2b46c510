import { MemorySaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import {
  createMemory,
  MemoryError,
  memoryQueryTool,
  type Scope,
  withMemory,
} from "../../src/index.js";
import { internalApi } from "../../src/internal-api.js";
import { code } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, chatAgent, favouriteDish, say, toolAgent } from "./conversation.js";

const database = useTestDatabase();
function withDefault(defaultScope: Scope = { appId: `studio ${crypto.randomUUID()}` }) {
  return { memory: database.memory({ defaultScope }), defaultScope };
}

it.each(["memory.checkpointer()", "a server's saver"])(
  "A run without ids has the default scope (%s)",
  async (saver) => {
    const { memory, defaultScope } = withDefault();
    await memory.memories.add({ scope: defaultScope, memories: favouriteDish });
    const asks = { toolCalls: [{ name: "memory_query", args: { query: "dish" } }] };
    const { agent, model } = toolAgent([asks, "Zanzibar."], [memoryQueryTool(memory)]);
    const checkpointer = saver.startsWith("a") ? new MemorySaver() : memory.checkpointer();
    const graph = withMemory(agent, memory).compile({ checkpointer });
    // As LangGraph's development server does, which knows no user.
    const config = { configurable: { thread_id: crypto.randomUUID(), user_id: undefined } };
    await say(graph, "What do I like?", config);
    expect(model.calls[0]?.messages[0]?.text).toContain("zanzibar");
    expect(model.calls[1]?.messages.at(-1)?.text).toContain("zanzibar");
    expect((await graph.getState(config)).values.messages).toHaveLength(4);
    expect(
      (await memory.recall({ scope: defaultScope, threadId: config.configurable.thread_id })).gap,
    ).toHaveLength(4);
  },
);

it("An invalid default scope is refused, and so is any beside row-level security", () => {
  for (const defaultScope of [
    {},
    { tenantId: "acme" },
    { userId: " " },
    { userId: undefined },
    "ana",
  ])
    expect(() => createMemory({ defaultScope: defaultScope as never })).toThrow(
      code("SCOPE_REQUIRED"),
    );
  expect(() => createMemory({ defaultScope: { userId: "ana" }, isolation: "rls" })).toThrow(
    code("INVALID_INPUT"),
  );
  expect(internalApi(database.memory()).defaultScope()).toBeNull();
});

it("The error of a run without a scope names defaultScope", async () => {
  const graph = withMemory(chatAgent(answering()), database.memory()).compile();
  const failed = await say(graph, "hi", { configurable: { thread_id: "t" } }).catch(
    (error: unknown) => error,
  );
  expect(MemoryError.is(failed, "SCOPE_REQUIRED")).toBe(true);
  expect((failed as Error).message).toMatch(/configurable.*user_id.*context.*defaultScope/s);
  await expect(database.memory().memories.list({ scope: {} })).rejects.toThrow(/scope: \{ userId/);
});
