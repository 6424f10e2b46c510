import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, agentWithMemory, lines, say, streamed, summarizing, toolAgent } from "./conversation.js";

const database = useTestDatabase();
const config = { summaries: { afterSeq: 1 } };

describe("the agent inside", () => {
  it("is drawn with its inner nodes", async () => {
    const memory = database.memory();
    const { agent } = toolAgent([], [tool(() => "x", { name: "look", schema: z.object({}) })]);
    const graph = withMemory(agent, memory).compile();
    const drawn = await graph.getGraphAsync({ xray: true });
    expect(Object.keys(drawn.nodes)).toEqual(
      expect.arrayContaining(["memory.recall", "agent:chat", "agent:tools", "memory.remember"]),
    );
    expect(Object.keys((await graph.getGraphAsync()).nodes)).toEqual([
      "__start__",
      "memory.recall",
      "agent",
      "memory.remember",
      "__end__",
    ]);
  });

  it("keeps the name it was compiled with", () => {
    const agent = new StateGraph(MessagesAnnotation)
      .addNode("chat", () => ({}))
      .addEdge(START, "chat")
      .compile({ name: "research:assistant" });
    const graph = withMemory(agent, database.memory()).compile();
    expect(Object.keys(graph.nodes)).toContain("research_assistant");
  });
});

describe("streams", () => {
  const tokens = (chunks: unknown[]) =>
    chunks
      .map((chunk) => (chunk as [AIMessageChunk, { langgraph_node: string }])[0])
      .filter((message) => message.getType() === "ai")
      .map((message) => message.text)
      .filter((text) => text !== "");

  it.each(["inline", "background"] as const)(
    "give the agent's tokens and no summariser's (%s jobs)",
    async (jobs) => {
      const { memory, graph, thread } = agentWithMemory(
        database.memory({ model: summarizing(), jobs, config }),
      );
      for (const round of [1, 2, 3]) {
        const chunks = await streamed(
          graph,
          { messages: [new HumanMessage(`question ${round}`)] },
          { ...thread, streamMode: "messages" },
        );
        await memory.idle();
        expect(tokens(chunks)).toEqual(["answer", ` ${round}`]);
      }
      expect(await memory.summaries.list(addressOf(thread))).toHaveLength(3);
    },
  );

  it.each(["inline", "background"] as const)(
    "of subgraphs show the agent's alone (%s jobs)",
    async (jobs) => {
      const { memory, graph, thread } = agentWithMemory(
        database.memory({ model: summarizing(), jobs, config }),
      );
      for (const round of [1, 2, 3]) {
        const chunks = (await streamed(
          graph,
          { messages: [new HumanMessage(`question ${round}`)] },
          { ...thread, streamMode: ["messages", "updates"], subgraphs: true },
        )) as [string[], string, unknown][];
        await memory.idle();
        const inner = chunks.filter(([namespace]) => namespace.length > 0);
        expect(inner.every(([namespace]) => namespace[0]?.startsWith("agent:"))).toBe(true);
        expect(tokens(inner.filter(([, mode]) => mode === "messages").map(([, , chunk]) => chunk))).toEqual([
          "answer",
          ` ${round}`,
        ]);
      }
      expect(await memory.summaries.list(addressOf(thread))).toHaveLength(3);
    },
  );

  it("tell what memory did", async () => {
    const { memory, graph, thread } = agentWithMemory(database.memory({ model: summarizing(), config }));
    await say(graph, "question 1", thread);
    const [summary] = await memory.summaries.list(addressOf(thread));
    const events = await streamed(
      graph,
      { messages: [new HumanMessage("question 2")] },
      { ...thread, streamMode: "custom" },
    );
    expect(events).toEqual([
      {
        ...{ type: "memory.recall", node: "context", step: "recall", op: "search", status: "ok" },
        ...{ summaryId: summary!.id, recentMessages: 2, gapMessages: 0, leftOut: 0 },
        ...{ hits: 0, similarity: null, changes: 0 },
      },
      {
        ...{ type: "memory.remember", node: "hotpath", step: "remember", op: "create", status: "ok" },
        recorded: 2,
        summary: { id: expect.any(Number), startSeq: 0, endSeq: 3 },
      },
    ]);
  });

  it("update the outer state with the new messages only", async () => {
    const { graph, thread } = agentWithMemory(database.memory({ model: summarizing(), config }));
    await say(graph, "question 1", thread);
    const updates = (await streamed(
      graph,
      { messages: [new HumanMessage("question 2")] },
      { ...thread, streamMode: "updates" },
    )) as Record<string, { messages: AIMessageChunk[] }>[];
    const agent = updates.find((update) => "agent" in update);
    expect(lines(agent!.agent!.messages)).toEqual(["ai: answer 2"]);
  });
});
