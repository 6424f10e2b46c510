import { randomUUID } from "node:crypto";
import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph, type StreamMode } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type MemoryDraft, withMemory } from "../../src/index.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";
import {
  type AnyGraph,
  addressOf,
  agentWithMemory,
  answering,
  chatAgent,
  favouriteDish,
  lines,
  newThread,
  oneNode,
  saidIn,
  say,
  streamed,
  summarizing,
  toolAgent,
} from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();
const config = { summaries: { afterSeq: 1 } };

type RecallEvent = Record<"consents" | "unread" | "changes" | "databaseMessages", number> & {
  readonly memories: Readonly<Record<string, number>>;
  readonly summaryId: number | null;
};

describe("the agent inside", () => {
  it("The agent inside a graph with memory is drawn with its inner nodes", async () => {
    const memory = database.memory();
    const { agent } = toolAgent([], [tool(() => "x", { name: "look", schema: z.object({}) })]);
    const graph = withMemory(agent, memory).compile();
    const drawn = await graph.getGraphAsync({ xray: true });
    const inner = ["memory.recall", "agent:chat", "agent:tools", "memory.remember"];
    expect(Object.keys(drawn.nodes)).toEqual(expect.arrayContaining(inner));
    const outer = Object.keys((await graph.getGraphAsync()).nodes);
    expect(outer).toEqual(["__start__", "memory.recall", "agent", "memory.remember", "__end__"]);
  });

  it("The agent inside a graph with memory keeps the name it was compiled with", () => {
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
    "Streams show the agent's tokens and steps, and none of %s jobs",
    async (jobs) => {
      const secret = "Secretia";
      const model = taskModel({
        conversation_summary: () => ({
          structured: { reasoning: "", summary: `They spoke of ${secret}.` },
        }),
        fact_extraction: (_, call) =>
          call === 0 ? facts(candidate(`The user works in ${secret}.`, "I work there")) : facts(),
        episode_summary: () => ({
          structured: { reasoning: "", summary: `They met in ${secret}.` },
        }),
      });
      const memories = { extract: true, episodes: true, episodeEveryTurns: 2 };
      const settings = { model, jobs, config: { ...config, memories } };
      const { memory, graph, thread } = agentWithMemory(database.memory(settings));
      for (const [index, said] of ["I work there.", "Hello."].entries()) {
        const streamMode: StreamMode[] = ["messages", "updates", "custom"];
        const input = { messages: [new HumanMessage(said)] };
        const options = { ...thread, streamMode, subgraphs: true };
        const chunks = (await streamed(graph, input, options)) as [
          string[],
          string,
          Record<string, { messages: AIMessageChunk[] }>,
        ][];
        await memory.idle();
        const inner = chunks.filter(([namespace]) => namespace.length > 0);
        expect(inner.every(([namespace]) => namespace[0]?.startsWith("agent:"))).toBe(true);
        const messages = chunks
          .filter(([, mode]) => mode === "messages")
          .map(([, , chunk]) => chunk);
        expect(tokens(messages)).toEqual(["answer", ` ${index + 1}`]);
        const update = chunks.find(
          ([namespace, mode, chunk]) => !namespace[0] && mode === "updates" && "agent" in chunk,
        );
        // The new messages alone.
        expect(lines(update![2].agent!.messages)).toEqual([`ai: answer ${index + 1}`]);
        const names =
          /fact_extraction|episode_summary|conversation_summary|"(load|ask|check|save)"/;
        expect(JSON.stringify(chunks)).not.toMatch(names);
        expect(JSON.stringify(chunks)).not.toContain(secret);
      }
      expect(await memory.summaries.list(addressOf(thread))).toHaveLength(2);
      const texts = (await textsOf(memory, addressOf(thread))).toSorted();
      expect(texts).toEqual([`The user works in ${secret}.`, `They met in ${secret}.`]);
    },
  );

  it("Streams of a graph in the agent need `subgraphs`, as in LangGraph", async () => {
    const inner = chatAgent(answering());
    const agent = oneNode("inner", inner as never);
    const alone = agent as unknown as AnyGraph;
    const memory = database.memory();
    const wrapped = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const input = () => ({ messages: [new HumanMessage("hello")] });
    const of = async (graph: unknown, subgraphs: boolean) => {
      const chunks = await streamed(graph, input(), {
        ...newThread(),
        streamMode: "messages",
        subgraphs,
      });
      return tokens(subgraphs ? (chunks as [unknown, unknown][]).map(([, chunk]) => chunk) : chunks)
        .length;
    };
    for (const subgraphs of [false, true])
      expect(await of(wrapped, subgraphs)).toBe(await of(alone, subgraphs));
  });

  it("Streams report what memory did", async () => {
    const { memory, graph, thread } = agentWithMemory(
      database.memory({ model: summarizing(), config }),
    );
    await say(graph, "question 1", thread);
    const [summary] = await memory.summaries.list(addressOf(thread));
    const input = { messages: [new HumanMessage("question 2")] };
    const events = await streamed(graph, input, { ...thread, streamMode: "custom" });
    expect(events).toEqual([
      {
        type: "memory.recall",
        node: "context",
        step: "recall",
        op: "search",
        status: "ok",
        summaryId: summary!.id,
        memories: {
          profile: 0,
          relevant: 0,
          episodes: 0,
          related: 0,
          rest: 0,
          notes: 0,
          earlier: 0,
        },
        omittedMemories: 0,
        similarity: null,
        changes: 0,
        consents: 0,
        unread: 0,
        recentMessages: 2,
        gapMessages: 0,
        omittedMessages: 0,
        databaseMessages: 0,
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

  const presets = ["ledger", "every-round"] as const;
  it.each(ways.flatMap((way) => presets.map((preset) => [way, preset] as const)))(
    "Streams count every line and message of memory that the model is shown (%s, %s)",
    async (way, preset) => {
      const settings = {
        memories: { extract: true },
        consent: { ask: "tool" },
        ...(preset === "every-round" && config),
      } as const;
      const memory = database.memory({
        model: new OfflineChatModel(),
        jobs: "background",
        config: { preset, ...settings },
      });
      const [model, appId] = [answering(), randomUUID()];
      const thread = newThread({ app_id: appId });
      const scope = { userId: thread.configurable.user_id, appId };
      await memory.remember({
        scope,
        threadId: randomUUID(),
        messages: [new HumanMessage("My boat is called Orca.")],
      });
      await memory.memories.add({
        scope: { appId },
        memories: { kind: "note", text: "Users like short answers." },
      });
      const statements = [
        "Ida draws plans of gardens.",
        "The user plants tulips.",
        "Ben sells cars.",
      ];
      const city = {
        category: "profile",
        key: "city",
        value: "Rome",
        text: "The user's city is Rome.",
      };
      const add = (...drafts: MemoryDraft[]) =>
        memory.memories.add({ scope, actor: "agent", memories: drafts });
      await add(favouriteDish, city, ...statements.map((text) => ({ text })));
      // Without a checkpointer, everything but the current message comes from the database.
      const graph = await agentIn(way, { memory, model, checkpointer: null });
      const most: Record<string, number> = {};
      for (const said of [
        "Who draws plans of gardens?",
        "Who sells cars?",
        "Which car did I sell?",
      ]) {
        const input = { messages: [new HumanMessage(said)] };
        const [event] = (await streamed(graph, input, {
          ...thread,
          streamMode: "custom",
        })) as RecallEvent[];
        const { memories, consents, unread, changes, databaseMessages, summaryId } = event!;
        const prompt = model.calls.at(-1)!.messages.filter(({ text }) => text !== "Lead.");
        const text = prompt.map((message) => message.text).join("\n");
        const counts = { ...memories, consents, unread, changes };
        const counted = Object.values(counts).reduce((sum, count) => sum + count);
        expect(counted, text).toBe(text.match(/^(- |\d+\. \[)/gm)?.length);
        expect(databaseMessages, text).toBe(saidIn(prompt).length - 1);
        expect(summaryId !== null, text).toBe(text.includes("[Summary of Round"));
        for (const [part, count] of Object.entries({
          ...counts,
          summaries: Number(summaryId !== null),
        }))
          most[part] = Math.max(most[part] ?? 0, count);
        await add({ text: `The user sold a car to ${said.slice(0, 9)}.` });
        await memory.idle();
      }
      const shown = `profile relevant rest notes consents changes ${preset === "ledger" ? "earlier unread" : "summaries"}`;
      expect(shown.split(" ").filter((part) => !most[part])).toEqual([]);
    },
  );
});
