import { inspect } from "node:util";
import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph, type StreamMode } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";
import {
  type AnyGraph,
  addressOf,
  agentWithMemory,
  answering,
  chatAgent,
  knownThread,
  lines,
  newThread,
  say,
  streamed,
  summarizing,
  toolAgent,
} from "./conversation.js";

const database = useTestDatabase();
const config = { summaries: { afterSeq: 1 } };

describe("the agent inside", () => {
  it("is drawn with its inner nodes", async () => {
    const memory = database.memory();
    const { agent } = toolAgent([], [tool(() => "x", { name: "look", schema: z.object({}) })]);
    const graph = withMemory(agent, memory).compile();
    expect(Object.keys((await graph.getGraphAsync({ xray: true })).nodes)).toEqual(
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
    expect(Object.keys(withMemory(agent, database.memory()).compile().nodes)).toContain("research_assistant");
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
    "show the agent's tokens and steps, and nothing of background work (%s jobs)",
    async (jobs) => {
      const secret = "Secretia";
      const model = taskModel({
        conversation_summary: () => ({ structured: { reasoning: "", summary: `They spoke of ${secret}.` } }),
        fact_extraction: (_, call) =>
          call === 0 ? facts(candidate(`The user works in ${secret}.`, "I work there")) : facts(),
        episode_summary: () => ({ structured: { reasoning: "", summary: `They met in ${secret}.` } }),
      });
      const memories = { extract: true, episodes: true, episodeEveryTurns: 2 };
      const { memory, graph, thread } = agentWithMemory(
        database.memory({ model, jobs, config: { ...config, memories } }),
      );
      for (const [index, said] of ["I work there.", "Hello."].entries()) {
        const streamMode: StreamMode[] = ["messages", "updates", "custom"];
        const input = { messages: [new HumanMessage(said)] };
        const options = { ...thread, streamMode, subgraphs: true };
        const chunks = (await streamed(graph, input, options)) as [string[], string, unknown][];
        await memory.idle();
        const inner = chunks.filter(([namespace]) => namespace.length > 0);
        expect(inner.every(([namespace]) => namespace[0]?.startsWith("agent:"))).toBe(true);
        const messages = chunks.filter(([, mode]) => mode === "messages").map(([, , chunk]) => chunk);
        expect(tokens(messages)).toEqual(["answer", ` ${index + 1}`]);
        const names = /fact_extraction|episode_summary|conversation_summary|"(load|extract|compress|save)"/;
        expect(JSON.stringify(chunks)).not.toMatch(names);
        expect(JSON.stringify(chunks)).not.toContain(secret);
      }
      expect(await memory.summaries.list(addressOf(thread))).toHaveLength(2);
      expect((await textsOf(memory, addressOf(thread))).toSorted()).toEqual([
        `The user works in ${secret}.`,
        `They met in ${secret}.`,
      ]);
    },
  );

  it("of a graph in the agent need `subgraphs`, as in LangGraph", async () => {
    const inner = chatAgent(answering());
    const agent = new StateGraph(MessagesAnnotation).addNode("inner", inner).addEdge(START, "inner").compile();
    const alone = agent as unknown as AnyGraph;
    const memory = database.memory();
    const wrapped = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const input = () => ({ messages: [new HumanMessage("hello")] });
    const of = async (graph: unknown, subgraphs: boolean) => {
      const chunks = await streamed(graph, input(), { ...newThread(), streamMode: "messages", subgraphs });
      return tokens(subgraphs ? (chunks as [unknown, unknown][]).map(([, chunk]) => chunk) : chunks).length;
    };
    for (const subgraphs of [false, true]) expect(await of(wrapped, subgraphs)).toBe(await of(alone, subgraphs));
  });

  it("and states have only the agent's own keys, and nothing recalled", async () => {
    const { memory, graph, model } = agentWithMemory(database.memory());
    const thread = await knownThread(memory);
    for (const subgraphs of [false, true]) {
      const input = { messages: [new HumanMessage("What do I like?")] };
      const chunks = await streamed(graph, input, { ...thread, streamMode: ["values", "updates"], subgraphs });
      expect(chunks.length).toBeGreaterThan(4);
      expect(inspect(chunks, { depth: 20 })).not.toMatch(/zanzibar|<memory>|mnemograph/);
      expect(model.calls.at(-1)?.messages[0]?.text).toContain("zanzibar");
    }
    expect(Object.keys(await graph.invoke({ messages: [new HumanMessage("Again?")] }, thread))).toEqual(["messages"]);
    expect(Object.keys((await graph.getState(thread)).values)).toEqual(["messages"]);
  });

  it("report what memory did", async () => {
    const { memory, graph, thread } = agentWithMemory(database.memory({ model: summarizing(), config }));
    await say(graph, "question 1", thread);
    const [summary] = await memory.summaries.list(addressOf(thread));
    expect(
      await streamed(graph, { messages: [new HumanMessage("question 2")] }, { ...thread, streamMode: "custom" }),
    ).toEqual([
      {
        type: "memory.recall",
        node: "context",
        step: "recall",
        op: "search",
        status: "ok",
        summaryId: summary!.id,
        recentMessages: 2,
        gapMessages: 0,
        omittedMessages: 0,
        hits: 0,
        similarity: null,
        omitted: 0,
        changes: 0,
      },
      {
        type: "memory.remember",
        node: "hotpath",
        step: "remember",
        op: "create",
        status: "ok",
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
    expect(lines(updates.find((update) => "agent" in update)!.agent!.messages)).toEqual(["ai: answer 2"]);
  });
});
