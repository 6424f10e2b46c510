import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { MessagesAnnotation, REMOVE_ALL_MESSAGES, START, StateGraph } from "@langchain/langgraph";
import { createAgent, summarizationMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  agentWithMemory,
  answering,
  type chatAgent,
  lines,
  newThread,
  rounds,
  say,
  summarizing,
  summaryAlone,
  transcript,
} from "./conversation.js";

const database = useTestDatabase();

describe("an agent that removes messages", () => {
  /** An agent that answers after, or before, `change` has made something of its messages. */
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
    return edged.compile() as unknown as ReturnType<typeof chatAgent>;
  }
  /** Before it answers, it removes all but the last three messages. */
  const trimming = (model: ScriptedChatModel) =>
    changing(model, (messages) => messages.slice(0, -3).map(({ id }) => new RemoveMessage({ id: id! })));

  it.each(["full", "bounded"] as const)("is not shown them again (%s session)", async (session) => {
    const { model, graph, thread } = agentWithMemory(database.memory(), { build: trimming, session });
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const { messages } = await say(graph, "question 4", thread);
    expect(lines(model.calls[3]!.messages)).toEqual([...rounds(3), "human: question 4"]);
    expect(lines(messages)).toEqual(rounds(3, 4));
    expect(await transcript(database, thread)).toHaveLength(8);
  });

  it("has what it removed summarised all the same", async () => {
    const summarizer = summarizing();
    const { model, graph, thread } = agentWithMemory(database.memory({ model: summarizer, config: summaryAlone }), {
      build: trimming,
    });
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const { messages } = await say(graph, "question 4", thread);
    expect(summarizer.calls[0]!.messages.at(-1)!.text.match(/(question|answer) \d/g)).toHaveLength(6);
    expect(lines(model.calls[3]!.messages)).toEqual([expect.stringContaining("summary 1"), "human: question 4"]);
    expect(lines(messages)).toEqual(rounds(2, 3, 4));
  });

  it("has one removed message gone from what it is shown, also when it was the first after a summary", async () => {
    const memory = database.memory({ model: summarizing() });
    const model = answering();
    const redacting = changing(
      model,
      (messages) =>
        messages.flatMap(({ id, text }) => (text.includes("secret") ? [new RemoveMessage({ id: id! })] : [])),
      "after",
    );
    const graph = withMemory(redacting, memory, { session: "bounded", injectAs: "system" }).compile({
      checkpointer: memory.checkpointer(),
    });
    const thread = newThread();
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    await memory.record({
      ...addressOf(thread),
      messages: [new HumanMessage({ id: "other", content: "a secret told elsewhere" })],
    });
    const unsummarised = database.memory();
    const later = withMemory(redacting, unsummarised, { session: "bounded", injectAs: "system" }).compile({
      checkpointer: memory.checkpointer(),
    });
    await say(later, "a secret", thread);
    await say(later, "question 5", thread);
    await say(later, "question 6", thread);
    const shown = model.calls.at(-1)!.messages.map((message) => message.text);
    expect(shown.filter((text) => text.includes("secret"))).toEqual([]);
    expect(shown.at(-1)).toBe("question 6");
  });

  it("may put a message in between, which then stays there", async () => {
    const memory = database.memory();
    const model = answering();
    const condensing = changing(model, (messages) =>
      messages.length < 5
        ? []
        : [
            new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
            new AIMessage({ id: "digest", content: "digest" }),
            ...messages.slice(-3),
          ],
    );
    const graph = withMemory(condensing, memory).compile({ checkpointer: memory.checkpointer() });
    const thread = newThread();
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const { values } = await graph.getState(thread);
    expect(lines(values.messages)).toEqual(["ai: digest", ...rounds(2, 3)]);
    expect(lines(model.calls[2]!.messages)).toEqual(lines(values.messages).slice(0, -1));
  });

  it("may be an agent with a summarizationMiddleware of its own", async () => {
    const memory = database.memory();
    const own = new ScriptedChatModel({ replies: (_, index) => `own digest ${index + 1}` });
    // Its declared types resolve to never and to zod 3 under this project's settings.
    const ownOptions = { model: own, trigger: { messages: 5 }, keep: { messages: 2 } };
    const model = answering();
    const agent = createAgent({
      model,
      tools: [],
      middleware: [summarizationMiddleware(ownOptions as never) as never],
    });
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const thread = newThread();
    for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
    const { messages } = await say(graph, "question 4", thread);
    expect(lines(model.calls[2]!.messages)).toEqual([
      expect.stringContaining("own digest 1"),
      "ai: answer 2",
      "human: question 3",
    ]);
    expect(lines(model.calls[3]!.messages)).toEqual([
      expect.stringContaining("own digest 2"),
      "ai: answer 3",
      "human: question 4",
    ]);
    expect(lines(messages)).toEqual([...lines(model.calls[3]!.messages), "ai: answer 4"]);
    const said = await transcript(database, thread);
    // Its first summary is kept as a message, so that memory makes none of its own.
    expect(said.filter((text) => !text.includes("own digest 1"))).toEqual(
      [1, 2, 3, 4].flatMap((round) => [`question ${round}`, `answer ${round}`]),
    );
  });
});
