import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  MessagesAnnotation,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { createAgent, createMiddleware, modelCallLimitMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryStateFields, withMemory } from "../../src/index.js";
import type { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  agentWithMemory,
  answering,
  chatAgent,
  converse,
  lines,
  newThread,
  oneNode,
  rounds,
  say,
} from "./conversation.js";

const database = useTestDatabase();

describe("agents", () => {
  it("Agents made by createAgent keep the private state of their middleware", async () => {
    const counter = createMiddleware({
      name: "counter",
      stateSchema: z.object({ _calls: z.number().default(0) }),
      beforeModel: (state) => ({ _calls: state._calls + 1 }),
      wrapModelCall: (request, handler) =>
        handler({ ...request, systemPrompt: `call ${request.state._calls}` }),
    });
    const limit = modelCallLimitMiddleware({ threadLimit: 2, exitBehavior: "error" } as never);
    const middleware = [counter, limit as unknown as typeof counter];
    const build = (model: ScriptedChatModel) => createAgent({ model, tools: [], middleware });
    const { model, graph, thread } = agentWithMemory(database.memory(), { build });
    await converse(graph, thread, 1, 2);
    expect(model.calls.map(({ messages }) => messages[0]!.text)).toEqual(["call 1", "call 2"]);
    await expect(say(graph, "question 3", thread)).rejects.toThrow(/limit/i);
    expect(model.calls).toHaveLength(2);
  });

  it("Agents made by createReactAgent are accepted by withMemory", async () => {
    const build = (llm: ScriptedChatModel) =>
      createReactAgent({ llm, tools: [], prompt: "Be brief." });
    const { model, graph, thread } = agentWithMemory(database.memory(), { build });
    await converse(graph, thread, 1, 2);
    const earlier = ["human: question 1", "ai: answer 1", "human: question 2"];
    expect(lines(model.calls[1]!.messages)).toEqual(["system: Be brief.", ...earlier]);
  });

  it("An agent's state may have keys named like the nodes around it", async () => {
    const memory = database.memory();
    const state = Annotation.Root({
      ...MessagesAnnotation.spec,
      agent: Annotation<string>(),
      "memory.recall": Annotation<string>(),
      "memory.remember": Annotation<string>(),
    });
    const agent = new StateGraph(state)
      .addNode("chat", (own) => ({ agent: `${own["memory.recall"]}!`, "memory.remember": "set" }))
      .addEdge(START, "chat")
      .compile();
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const result = await graph.invoke({ messages: [], "memory.recall": "mine" }, newThread());
    expect(result).toMatchObject({
      agent: "mine!",
      "memory.recall": "mine",
      "memory.remember": "set",
    });
  });

  it("A wrapped agent keeps the ids of messages, and replaces a message by its id", async () => {
    const memory = database.memory();
    const agent = oneNode("edit", ({ messages }) => ({
      messages: [new HumanMessage({ id: messages.at(-1)!.id!, content: "edited" })],
    }));
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const thread = newThread();
    await say(graph, "first", thread);
    const { messages } = await graph.invoke(
      { messages: [new HumanMessage({ id: "mine", content: "x" })] },
      thread,
    );
    expect([lines(messages), messages[1]!.id]).toEqual([
      ["human: edited", "human: edited"],
      "mine",
    ]);
  });

  it("An agent compiled with a checkpointer of its own shares the outer one", async () => {
    const build = (model: ScriptedChatModel) =>
      Object.assign(chatAgent(model), { checkpointer: true });
    const { model, graph, thread } = agentWithMemory(database.memory(), { build });
    await converse(graph, thread, 1, 2, 3);
    expect(lines(model.calls[2]!.messages)).toEqual([...rounds(1, 2), "human: question 3"]);
  });
});

describe("names and agents that withMemory refuses", () => {
  const wrap = (agent: unknown, options = {}) =>
    withMemory(agent as never, database.memory(), options);
  const idle = (state: object) =>
    new StateGraph(state as typeof MessagesAnnotation)
      .addNode("chat", () => ({}))
      .addEdge(START, "chat")
      .compile();
  const piledUp = Annotation<BaseMessage[]>({ reducer: (a, b) => a.concat(b), default: () => [] });
  const refused = (message: RegExp) =>
    expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringMatching(message) });

  it.each<[string, () => unknown, RegExp]>([
    [
      "a graph that is not compiled",
      () => new StateGraph(MessagesAnnotation),
      /call \.compile\(\) first/,
    ],
    [
      "an agent without messages",
      () => idle(Annotation.Root({ text: Annotation<string>() })),
      /needs `messages` in the agent's state/,
    ],
    [
      "messages that only pile up",
      () => idle(Annotation.Root({ messages: piledUp })),
      /merge by id: give the key messagesStateReducer/,
    ],
    [
      "messages that are replaced",
      () => idle(Annotation.Root({ messages: Annotation<BaseMessage[]> })),
      /merge by id/,
    ],
    [
      "an agent that has memory",
      () => idle(new StateSchema({ messages: MessagesValue, ...memoryStateFields })),
      /an agent without memory/,
    ],
  ])("withMemory refuses %s, with the reason", (_, agent, message) =>
    expect(() => wrap(agent())).toThrow(refused(message)),
  );

  it.each(["messages", "memory.recall", "memory.remember", "a:b", "a|b", ""])(
    "withMemory refuses the node name %j",
    (agentNode) => {
      expect(() => wrap(chatAgent(answering()), { agentNode })).toThrow(
        refused(/choose another name/),
      );
    },
  );

  it("withMemory accepts other node names for the agent", () =>
    expect(Object.keys(wrap(chatAgent(answering()), { agentNode: "assistant" }).nodes)).toContain(
      "assistant",
    ));
});
