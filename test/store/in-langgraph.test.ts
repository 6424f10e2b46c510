import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  getStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { createAgent, type ToolRuntime } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { user, useStoreDatabase } from "./store-samples.js";

const db = useStoreDatabase();

describe("a store in LangGraph", () => {
  const State = Annotation.Root({ found: Annotation<unknown[]> });

  it("Nodes of a graph use the store by getStore() and config.store, several calls at once", async () => {
    const store = db.memory().store(user());
    const graph = new StateGraph(State)
      .addNode("write", async (_, config: LangGraphRunnableConfig) => {
        await config.store?.put(["users", "a_b-c"], "k1", { text: "one" });
        await Promise.all([
          config.store?.put(["users", "a_b-c"], "k2", { text: "two" }),
          config.store?.put(["users", "a_b-c"], "k3", { text: "three" }),
        ]);
        return {};
      })
      .addNode("read", async () => {
        const inside = getStore();
        const put = inside?.put(["users", "a_b-c"], "k4", { text: "four" });
        const found = await Promise.all([
          inside?.get(["users", "a_b-c"], "k1"),
          inside?.search(["users"], { query: "two" }),
          inside?.get(["users", "a_b-c"], "k4"),
          inside?.delete(["users", "a_b-c"], "k3"),
        ]);
        await put;
        return { found };
      })
      .addEdge(START, "write")
      .addEdge("write", "read")
      .compile({ store });
    const { found } = await graph.invoke({ found: [] });
    expect(found).toMatchObject([
      { value: { text: "one" } },
      [{ key: "k2" }],
      { value: { text: "four" } },
      undefined,
    ]);
    expect((await store.search(["users", "a_b-c"])).map(({ key }) => key).sort()).toEqual([
      "k1",
      "k2",
      "k4",
    ]);
  });

  it("Tools of createAgent read and write the store", async () => {
    const store = db.memory().store(user());
    const schema = z.object({ text: z.string() });
    const manage = tool(
      async ({ text }, runtime: ToolRuntime) => {
        const inside = runtime.store as unknown as BaseStore;
        await inside.put(["memories", "user_1"], "m1", { content: text });
        return JSON.stringify(
          (await inside.search(["memories", "user_1"], { query: text })).map(({ key }) => key),
        );
      },
      { name: "manage_memory", description: "Keeps a memory.", schema },
    );
    const call = {
      name: "manage_memory",
      args: { text: "Likes tea" },
      id: "c1",
      type: "tool_call" as const,
    };
    const model = new ScriptedChatModel({
      replies: [new AIMessage({ content: "", tool_calls: [call] }), new AIMessage("Kept.")],
    });
    const agent = createAgent({ model, tools: [manage], store });
    const { messages } = await agent.invoke({
      messages: [{ role: "user", content: "I like tea" }],
    });
    expect(messages.map(({ content }) => content)).toContain('["m1"]');
    expect((await store.get(["memories", "user_1"], "m1"))?.value).toEqual({
      content: "Likes tea",
    });
  });
});
