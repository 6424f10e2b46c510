import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { MessagesAnnotation, REMOVE_ALL_MESSAGES, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import type { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  addressOf,
  agentWithMemory,
  answering,
  chatAgent,
  checkpointed,
  converse,
  lines,
  newThread,
  rounds,
  say,
  summarizing,
  summaryAlone,
  transcript,
} from "./conversation.js";

const database = useTestDatabase();
const everyRound = { summaries: { afterSeq: 1, keepRecentMessages: 0 } };

describe("system messages", () => {
  it.each(["full", "bounded"] as const)(
    "System messages survive in a %s session and come first, once",
    async (session) => {
      const memory = database.memory({ model: summarizing(), config: everyRound });
      const { model, graph, thread } = agentWithMemory(memory, { session });
      await graph.invoke(
        { messages: [new SystemMessage("Be kind."), new HumanMessage("question 1")] },
        thread,
      );
      await say(graph, "question 2", thread);
      await graph.invoke(
        { messages: [new SystemMessage("Be brief."), new HumanMessage("question 3")] },
        thread,
      );
      const { messages } = await say(graph, "question 4", thread);
      expect(lines(model.calls[3]!.messages)).toEqual([
        expect.stringMatching(/^system: Be kind\.Be brief\.<memory>[\s\S]*summary 3/),
        "human: question 4",
      ]);
      const systems = messages.filter((message) => message.getType() === "system");
      expect(lines(systems)).toEqual(["system: Be kind.", "system: Be brief."]);
      if (session === "bounded")
        expect(lines(messages)).toEqual(["system: Be kind.", "system: Be brief.", ...rounds(4)]);
    },
  );

  it("System messages that a stateless caller sends with every message are shown once", async () => {
    const memory = database.memory();
    const model = answering();
    const graph = withMemory(chatAgent(model), memory).compile();
    const thread = newThread();
    for (const [round, id] of [undefined, "fixed", "fixed", undefined].entries()) {
      const instructions = new SystemMessage({
        content: "Be kind.",
        ...(id !== undefined && { id }),
      });
      await graph.invoke(
        { messages: [instructions, new HumanMessage(`question ${round + 1}`)] },
        thread,
      );
    }
    expect(lines(model.calls[3]!.messages)).toEqual([
      "system: Be kind.",
      ...rounds(1, 2, 3),
      "human: question 4",
    ]);
  });
});

it.each([
  ["is 10 kB long", "x".repeat(10_000)],
  ["holds a NUL character", "a\u0000"],
  ["ends in half a character", "a\uD800"],
])("A message whose id %s is recorded, and so are later ones", async (_, id) => {
  const { graph, thread } = agentWithMemory(database.memory());
  await (graph as unknown as AnyGraph).invoke(
    { messages: [new HumanMessage({ id, content: "odd" })] },
    thread,
  );
  await say(graph, "plain", thread);
  expect(await transcript(database, thread)).toEqual(["odd", "answer 1", "plain", "answer 2"]);
});

describe("an agent that removes messages", () => {
  /** An agent that changes its messages before or after it answers. */
  function changing(
    model: ScriptedChatModel,
    change: (messages: BaseMessage[]) => BaseMessage[],
    when: "before" | "after" = "before",
  ) {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("chat", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode("change", ({ messages }) => ({ messages: change(messages) }));
    const edged =
      when === "before"
        ? graph.addEdge(START, "change").addEdge("change", "chat")
        : graph.addEdge(START, "chat").addEdge("chat", "change");
    return edged.compile();
  }
  const trimming = (model: ScriptedChatModel) =>
    changing(model, (messages) =>
      messages.slice(0, -3).map(({ id }) => new RemoveMessage({ id: id! })),
    );

  it.each(["full", "bounded"] as const)(
    "An agent is not shown again the messages that it removed (%s session)",
    async (session) => {
      const { model, graph, thread } = agentWithMemory(database.memory(), {
        build: trimming,
        session,
      });
      await converse(graph, thread, 1, 2, 3);
      const { messages } = await say(graph, "question 4", thread);
      expect(lines(model.calls[3]!.messages)).toEqual([...rounds(3), "human: question 4"]);
      expect(lines(messages)).toEqual(rounds(3, 4));
      expect(await transcript(database, thread)).toHaveLength(8);
    },
  );

  it("The summary covers messages that the agent removed", async () => {
    const summarizer = summarizing();
    const memory = database.memory({ model: summarizer, config: summaryAlone });
    const { model, graph, thread } = agentWithMemory(memory, { build: trimming });
    await converse(graph, thread, 1, 2, 3);
    const { messages } = await say(graph, "question 4", thread);
    expect(summarizer.calls[0]!.messages.at(-1)!.text.match(/(question|answer) \d/g)).toHaveLength(
      6,
    );
    expect(lines(model.calls[3]!.messages)).toEqual([
      expect.stringContaining("summary 1"),
      "human: question 4",
    ]);
    expect(lines(messages)).toEqual(rounds(2, 3, 4));
  });

  it("An agent is not shown one message that it removed, even the first after a summary", async () => {
    const withoutSecrets = (messages: BaseMessage[]) =>
      messages
        .filter(({ text }) => text.includes("secret"))
        .map(({ id }) => new RemoveMessage({ id: id! }));
    const build = (model: ScriptedChatModel) => changing(model, withoutSecrets, "after");
    const own = { build, session: "bounded" } as const;
    const { memory, model, graph, thread } = agentWithMemory(
      database.memory({ model: summarizing() }),
      own,
    );
    await converse(graph, thread, 1, 2, 3);
    const elsewhere = new HumanMessage({ id: "other", content: "a secret told elsewhere" });
    await memory.record({ ...addressOf(thread), messages: [elsewhere] });
    const later = checkpointed(build(model), database.memory(), { session: "bounded" });
    for (const text of ["a secret", "question 5", "question 6"]) await say(later, text, thread);
    const shown = model.calls.at(-1)!.messages.map((message) => message.text);
    expect(shown.filter((text) => text.includes("secret"))).toEqual([]);
    expect(shown.at(-1)).toBe("question 6");
  });

  it.each([
    ["ai", AIMessage],
    ["system", SystemMessage],
  ] as const)("A message that an agent inserts stays in its place (%s)", async (type, Inserted) => {
    const digest = new Inserted({ id: "digest", content: "digest" });
    const condensing = (model: ScriptedChatModel) =>
      changing(model, (messages) =>
        messages.length < 5
          ? []
          : [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), digest, ...messages.slice(-3)],
      );
    const { model, graph, thread } = agentWithMemory(database.memory(), { build: condensing });
    await converse(graph, thread, 1, 2, 3);
    const { values } = await graph.getState(thread);
    expect(lines(values.messages)).toEqual([`${type}: digest`, ...rounds(2, 3)]);
    expect(lines(model.calls[2]!.messages)).toEqual(lines(values.messages).slice(0, -1));
  });
});
