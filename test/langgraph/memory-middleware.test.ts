import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { memoryMiddleware } from "../../src/index.js";
import type { MemoryMiddlewareOptions } from "../../src/langgraph/wrap/memory-middleware.js";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  answering,
  lines,
  newThread,
  say,
  streamed,
  summarizing,
  summaryBlock,
  transcript,
} from "./conversation.js";

const database = useTestDatabase();
const everyRound = { summaries: { afterSeq: 1, keepRecentMessages: 0 } };

const look = tool(({ at }) => `saw ${at}`, { name: "look", schema: z.object({ at: z.string() }) });
const ask = tool(() => interrupt<string, string>("May I?"), { name: "ask", schema: z.object({}) });

function agentWith(
  options: MemoryMiddlewareOptions & {
    replies?: ScriptedReply[];
    systemPrompt?: string;
    stateless?: boolean;
  },
) {
  const { replies, systemPrompt, stateless, ...rest } = options;
  const memory = database.memory({ model: summarizing(), config: everyRound });
  const model = replies ? new ScriptedChatModel({ replies }) : answering();
  const agent = createAgent({
    model,
    tools: [look, ask],
    middleware: [memoryMiddleware(memory, rest)],
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(!stateless && { checkpointer: memory.checkpointer() }),
  });
  return { memory, model, agent };
}

describe("memoryMiddleware", () => {
  it("shows the agent the summary and what came after it, and leaves its state alone", async () => {
    const { memory, model, agent } = agentWith({ systemPrompt: "Be kind." });
    const thread = newThread();
    await say(agent, "question 1", thread);
    const { messages, ...state } = await say(agent, "question 2", thread);
    expect(lines(model.calls[0]!.messages)).toEqual(["system: Be kind.", "human: question 1"]);
    const [summary] = await memory.summaries.list(addressOf(thread));
    expect(lines(model.calls[1]!.messages)).toEqual([
      `system: Be kind.\n\n${summaryBlock("1-1", "summary 1")}`,
      "human: question 2",
    ]);
    expect(lines(messages)).toEqual([
      "human: question 1",
      "ai: answer 1",
      "human: question 2",
      "ai: answer 2",
    ]);
    expect(state).toEqual({});
    expect(await transcript(database, thread)).toEqual(["question 1", "answer 1", "question 2", "answer 2"]);
    expect(summary).toMatchObject({ startSeq: 0, endSeq: 1, status: "completed" });
  });

  it("keeps the parts of a system message that has several, and needs none", async () => {
    const memory = database.memory({ model: summarizing(), config: everyRound });
    for (const systemPrompt of [
      undefined,
      new SystemMessage({
        content: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      }),
    ]) {
      const model = answering();
      const agent = createAgent({
        model,
        tools: [],
        middleware: [memoryMiddleware(memory)],
        ...(systemPrompt && { systemPrompt }),
      });
      const thread = newThread();
      for (const round of [1, 2]) await say(agent, `question ${round}`, thread);
      const [system] = model.calls[1]!.messages;
      const block = expect.stringContaining("summary ");
      expect(system!.content).toEqual(
        systemPrompt ? [...(systemPrompt.content as object[]), { type: "text", text: block }] : block,
      );
    }
  });

  it("shows every model call of a round the same memory, tool calls included, and recalls once", async () => {
    const { model, agent } = agentWith({
      replies: [
        "answer 1",
        {
          toolCalls: [
            { name: "look", args: { at: "sky" } },
            { name: "look", args: { at: "sea" } },
          ],
        },
        { toolCalls: [{ name: "look", args: { at: "sun" } }] },
        "answer 2",
        "answer 3",
      ],
    });
    const thread = newThread();
    await say(agent, "question 1", thread);
    const events = await streamed(
      agent,
      { messages: [new HumanMessage("question 2")] },
      { ...thread, streamMode: "custom" },
    );
    expect(events).toMatchObject([
      { type: "memory.recall", status: "ok" },
      { type: "memory.remember", status: "ok", recorded: 7 },
    ]);
    const memory = expect.stringContaining("summary 1");
    expect(lines(model.calls[3]!.messages)).toEqual([
      memory,
      "human: question 2",
      "ai: (look) (look)",
      "tool: saw sky",
      "tool: saw sea",
      "ai: (look)",
      "tool: saw sun",
    ]);
    expect(model.calls.slice(1, 4).map((call) => lines(call.messages).slice(0, 2))).toEqual(
      Array.from({ length: 3 }, () => [memory, "human: question 2"]),
    );
    await say(agent, "question 3", thread);
    expect(lines(model.calls[4]!.messages)).toEqual([
      expect.stringContaining("summary 2"),
      "human: question 3",
    ]);
    expect(await transcript(database, thread)).toHaveLength(11);
  });

  it("can put memory in front of the user's words, also in the calls after a tool's", async () => {
    const { model, agent } = agentWith({
      injectAs: "user",
      replies: ["answer 1", { toolCalls: [{ name: "look", args: { at: "sky" } }] }, "answer 2"],
    });
    const thread = newThread();
    await say(agent, "question 1", thread);
    const { messages } = await say(agent, "question 2", thread);
    expect(lines(model.calls[2]!.messages)).toEqual([
      "human: [Previous context: summary 1]\n\nquestion 2",
      "ai: (look)",
      "tool: saw sky",
    ]);
    expect(lines(messages)[2]).toBe("human: question 2");
  });

  it("bounded, has what a summary covers leave the state", async () => {
    const { model, agent } = agentWith({ session: "bounded" });
    const thread = newThread();
    for (const round of [1, 2]) await say(agent, `question ${round}`, thread);
    const { messages } = await say(agent, "question 3", thread);
    expect(lines(messages)).toEqual(["human: question 3", "ai: answer 3"]);
    expect(lines(model.calls[2]!.messages)).toEqual([
      expect.stringContaining("summary 2"),
      "human: question 3",
    ]);
    expect(await transcript(database, thread)).toHaveLength(6);
  });

  it("remembers an agent without a checkpointer", async () => {
    const memory = database.memory();
    const model = answering();
    const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
    const thread = newThread();
    for (const round of [1, 2]) await say(agent, `question ${round}`, thread);
    const { messages } = await say(agent, "question 3", thread);
    expect(lines(model.calls[2]!.messages)).toEqual([
      "human: question 1",
      "ai: answer 1",
      "human: question 2",
      "ai: answer 2",
      "human: question 3",
    ]);
    expect(lines(messages)).toEqual(["human: question 3", "ai: answer 3"]);
  });

  it("recalls again in a run resumed after a tool's interrupt, and records the round once", async () => {
    const { model, agent } = agentWith({
      replies: ["answer 1", { toolCalls: [{ name: "ask", args: {} }] }, "answer 2"],
    });
    const thread = newThread();
    await say(agent, "question 1", thread);
    const stopped = await say(agent, "question 2", thread);
    expect(stopped).toMatchObject({ __interrupt__: [{ value: "May I?" }] });
    expect(await transcript(database, thread)).toHaveLength(2);
    const done = await agent.invoke(new Command({ resume: "yes" }), thread);
    expect(lines(model.calls[2]!.messages)).toEqual([
      expect.stringContaining("summary 1"),
      "human: question 2",
      "ai: (ask)",
      "tool: yes",
    ]);
    expect(lines(done.messages)).toEqual([
      "human: question 1",
      "ai: answer 1",
      "human: question 2",
      "ai: (ask)",
      "tool: yes",
      "ai: answer 2",
    ]);
    expect(await transcript(database, thread)).toEqual([
      "question 1",
      "answer 1",
      "question 2",
      expect.stringContaining("ask"),
      "yes",
      "answer 2",
    ]);
  });

  it("leaves nothing it recalled in the agent's checkpoints", async () => {
    const { agent } = agentWith({
      replies: ["answer 1", { toolCalls: [{ name: "ask", args: {} }] }],
      injectAs: "user",
    });
    const thread = newThread();
    await say(agent, "question 1", thread);
    await say(agent, "question 2", thread);
    for (const table of ["checkpoint_blobs", "checkpoint_writes"]) {
      const { rows } = await database.pool.query<{ text: string }>(
        `select convert_from(blob, 'utf8') as text from "${database.schema}".${table}
         where thread_id = $1 and blob is not null`,
        [thread.configurable.thread_id],
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.filter((row) => /summary 1|Previous context/.test(row.text))).toEqual([]);
    }
  });

  it("works beside other middleware, which sees the agent's own messages", async () => {
    const memory = database.memory({ model: summarizing(), config: everyRound });
    const model = answering();
    const seen: string[][] = [];
    const watcher = createMiddleware({
      name: "watcher",
      stateSchema: z.object({ rounds: z.number().default(0) }),
      beforeModel: (state) => {
        seen.push(lines(state.messages));
        return { rounds: state.rounds + 1 };
      },
    });
    const agent = createAgent({
      model,
      tools: [],
      middleware: [memoryMiddleware(memory), watcher],
      checkpointer: memory.checkpointer(),
    });
    const thread = newThread();
    await say(agent, "question 1", thread);
    const result = await agent.invoke({ messages: [new HumanMessage("question 2")] }, thread);
    expectTypeOf(result.rounds).toBeNumber();
    expectTypeOf(result).not.toHaveProperty("mnemograph");
    expect(result.rounds).toBe(2);
    expect(seen[1]).toEqual(["human: question 1", "ai: answer 1", "human: question 2"]);
  });

  it("is drawn as two nodes of the agent", async () => {
    const { agent } = agentWith({});
    const { nodes } = await agent.graph.getGraphAsync();
    expect(Object.keys(nodes)).toEqual(
      expect.arrayContaining(["memory.before_agent", "model_request", "memory.after_agent"]),
    );
  });
});
