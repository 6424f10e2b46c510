import type { BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  interrupt,
  MessagesAnnotation,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Memory,
  memoryAnnotation,
  memoryStateFields,
  modelView,
  recallNode,
  rememberNode,
} from "../../src/index.js";
import type { RememberNodeOptions } from "../../src/langgraph/nodes/remember-node.js";
import type { InjectAs } from "../../src/langgraph/run/node-options.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  addressOf,
  answering,
  lines,
  newThread,
  say,
  summarizing,
  summaryAlone,
  transcript,
} from "./conversation.js";

const database = useTestDatabase();

interface Options extends RememberNodeOptions {
  readonly injectAs?: InjectAs;
  readonly pause?: boolean;
}

const graphs = {
  StateSchema(memory: Memory, model: ScriptedChatModel, { injectAs, pause, ...options }: Options) {
    const state = new StateSchema({
      messages: MessagesValue,
      topic: z.string().default("none"),
      ...memoryStateFields,
    });
    const chat: typeof state.Node = async ({ messages, mnemograph }) => {
      if (pause) interrupt("wait");
      return { messages: [await model.invoke(modelView(messages, mnemograph, injectAs))], topic: "set" };
    };
    return new StateGraph(state)
      .addNode("recall", recallNode(memory, { onError: options.onError }))
      .addNode("chat", chat)
      .addNode("remember", rememberNode(memory, options))
      .addEdge(START, "recall")
      .addEdge("recall", "chat")
      .addEdge("chat", "remember")
      .compile({ checkpointer: memory.checkpointer() });
  },
  Annotation(memory: Memory, model: ScriptedChatModel, { injectAs, pause, ...options }: Options) {
    const state = Annotation.Root({
      ...MessagesAnnotation.spec,
      ...memoryAnnotation.spec,
      topic: Annotation<string>(),
    });
    return new StateGraph(state)
      .addNode("recall", recallNode(memory, { onError: options.onError }))
      .addNode("chat", async ({ messages, mnemograph }) => {
        if (pause) interrupt("wait");
        return { messages: [await model.invoke(modelView(messages, mnemograph, injectAs))], topic: "set" };
      })
      .addNode("remember", rememberNode(memory, options))
      .addEdge(START, "recall")
      .addEdge("recall", "chat")
      .addEdge("chat", "remember")
      .compile({ checkpointer: memory.checkpointer() });
  },
};

describe.each(Object.entries(graphs))("nodes placed by hand in a graph of %s", (_, build) => {
  const start = (options: Options = {}) => {
    const memory = database.memory({ model: summarizing(), config: summaryAlone });
    const model = answering();
    return {
      memory,
      model,
      graph: build(memory, model, options) as unknown as AnyGraph,
      thread: newThread(),
    };
  };

  it("show the summary and what came after it, and record the rounds", async () => {
    const { model, graph, thread } = start();
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const { messages, topic, ...rest } = await say(graph, "question 4", thread);
    expect(lines(model.calls[3]!.messages)).toEqual([
      expect.stringContaining("summary 1"),
      "human: question 4",
    ]);
    expect(messages).toHaveLength(8);
    expect(topic).toBe("set");
    expect(rest).toEqual({ mnemograph: undefined });
    expect(await transcript(database, thread)).toHaveLength(8);
    const { values } = await graph.getState(thread);
    expect(values).not.toHaveProperty("mnemograph");
  });

  it("bounded, have what a summary covers leave the state", async () => {
    const { graph, thread } = start({ session: "bounded", injectAs: "user" });
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const { messages } = await say(graph, "question 4", thread);
    expect(lines(messages)).toEqual(["human: question 4", "ai: answer 4"]);
    expect(await transcript(database, thread)).toHaveLength(8);
  });

  it("show the state's own messages in a resumed run, which has lost what was recalled", async () => {
    const { memory, model, graph, thread } = start({ pause: true });
    await say(graph, "question 1", thread);
    const { messages } = await graph.invoke(new Command({ resume: "go" }), thread);
    expect(lines(model.calls[0]!.messages)).toEqual(["human: question 1"]);
    expect(lines(messages)).toEqual(["human: question 1", "ai: answer 1"]);
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(1);
  });
});

it("nodes around a tool loop show memory in every call of it", async () => {
  const memory = database.memory({
    model: summarizing(),
    config: { summaries: { afterSeq: 1, keepRecentMessages: 0 } },
  });
  const look = tool(() => "saw it", { name: "look", schema: z.object({}) });
  const model = new ScriptedChatModel({
    replies: ["hello", { toolCalls: [{ name: "look", args: {} }] }, "done"],
  });
  const bound = model.bindTools([look]);
  const graph = new StateGraph(new StateSchema({ messages: MessagesValue, ...memoryStateFields }))
    .addNode("recall", recallNode(memory))
    .addNode("chat", async ({ messages, mnemograph }) => ({
      messages: [await bound.invoke(modelView(messages, mnemograph, "system"))],
    }))
    .addNode("tools", new ToolNode([look]))
    .addNode("remember", rememberNode(memory))
    .addEdge(START, "recall")
    .addEdge("recall", "chat")
    .addConditionalEdges("chat", (state: { messages: BaseMessage[] }) =>
      toolsCondition(state) === "tools" ? "tools" : "remember",
    )
    .addEdge("tools", "chat")
    .compile({ checkpointer: memory.checkpointer() });
  const thread = newThread();
  for (const round of [1, 2]) await say(graph, `question ${round}`, thread);
  expect(lines(model.calls[2]!.messages)).toEqual([
    expect.stringContaining("summary 1"),
    "human: question 2",
    "ai: (look)",
    "tool: saw it",
  ]);
});
