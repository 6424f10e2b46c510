import { HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  answering,
  chatAgent,
  checkpointed,
  lines,
  newThread,
  recorded,
  say,
  summarizing,
  summaryAlone,
  transcript,
} from "./conversation.js";

const database = useTestDatabase();
const config = { summaries: { afterSeq: 1, keepRecentMessages: 0 } };

describe("an interrupt in the agent", () => {
  function asking() {
    const runs: string[] = [];
    const model = answering();
    const agent = new StateGraph(MessagesAnnotation)
      .addNode("prepare", () => {
        runs.push("prepare");
        return {};
      })
      .addNode("ask", () => {
        runs.push("ask");
        const answer = interrupt<string, string>("May I?");
        return { messages: [new HumanMessage({ content: `[${answer}]`, name: "reviewer" })] };
      })
      .addNode("chat", async ({ messages }) => {
        runs.push("chat");
        return { messages: [await model.invoke(messages)] };
      })
      .addEdge(START, "prepare")
      .addEdge("prepare", "ask")
      .addEdge("ask", "chat")
      .compile();
    return { agent, model, runs };
  }

  it("An interrupt in the agent surfaces and resumes where it stopped, and the turn is recorded once", async () => {
    const memory = database.memory({ model: summarizing() });
    const { agent, model, runs } = asking();
    const graph = checkpointed(agent, memory);
    const thread = newThread();

    expect(await say(graph, "question 1", thread)).toMatchObject({
      __interrupt__: [{ value: "May I?" }],
    });
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(-1);
    const state = await graph.getState(thread, { subgraphs: true });
    expect(state.next).toEqual(["agent"]);
    expect(state.tasks[0]!.state).toMatchObject({ next: ["ask"] });

    const done = await graph.invoke(new Command({ resume: "yes" }), thread);
    expect(runs).toEqual(["prepare", "ask", "ask", "chat"]);
    expect(lines(done.messages)).toEqual(["human: question 1", "human: [yes]", "ai: answer 1"]);
    expect(lines(model.calls[0]!.messages)).toEqual(["human: question 1", "human: [yes]"]);
    expect(lines((await memory.recall(addressOf(thread))).gap)).toEqual(lines(done.messages));
  });

  it("An interrupted turn resumes in another process, after its messages were summarised", async () => {
    const unsummarised = database.memory();
    const thread = newThread();
    const stateless = withMemory(chatAgent(answering()), unsummarised).compile();
    for (const round of [1, 2]) await say(stateless, `question ${round}`, thread);

    const { agent, model } = asking();
    const paused = withMemory(agent, unsummarised).compile({
      checkpointer: unsummarised.checkpointer(),
    });
    await say(paused, "question 3", thread);

    const memory = database.memory({ model: summarizing(), config });
    await memory.graphs().summarization.invoke(addressOf(thread));
    expect((await memory.recall(addressOf(thread))).summary).toMatchObject({
      endSeq: 3,
      text: "summary 1",
    });
    const done = await checkpointed(agent, memory).invoke(new Command({ resume: "yes" }), thread);
    // The messages shown first are in no checkpoint; the summary has them by now.
    const [block, ...said] = lines(model.calls[0]!.messages);
    expect(block).toContain("summary 1");
    expect(said).toEqual(["human: question 3", "human: [yes]"]);
    expect(lines(done.messages)).toEqual(["human: question 3", "human: [yes]", "ai: answer 1"]);
    expect(await transcript(database, thread)).toEqual([
      ...recorded(1, 2),
      "question 3",
      "[yes]",
      "answer 1",
    ]);
  });

  it.each(["full", "bounded"] as const)(
    "An interrupt leaves the state of a %s session like a turn without one",
    async (session) => {
      const memory = database.memory({ model: summarizing(), config: summaryAlone });
      const checkpointer = memory.checkpointer();
      const thread = newThread();
      const calm = withMemory(chatAgent(answering()), memory, { session }).compile({
        checkpointer,
      });
      for (const round of [1, 2, 3]) await say(calm, `question ${round}`, thread);

      const { agent, model } = asking();
      const paused = withMemory(agent, memory, { session, injectAs: "system" }).compile({
        checkpointer,
      });
      const stopped = await say(paused, "question 4", thread);
      expect(stopped.messages).toHaveLength(session === "full" ? 7 : 3);
      const done = await paused.invoke(new Command({ resume: "yes" }), thread);
      const [block, ...said] = lines(model.calls[0]!.messages);
      expect(block).toContain("summary 1");
      expect(said).toEqual(["human: question 4", "human: [yes]"]);
      const earlier = stopped.messages.slice(0, 6);
      expect(lines(done.messages)).toEqual([
        ...(session === "full" ? lines(earlier) : []),
        "human: question 4",
        "human: [yes]",
        "ai: answer 1",
      ]);
      expect(Object.keys((await paused.getState(thread)).values)).toEqual(["messages"]);
      expect(await transcript(database, thread)).toHaveLength(9);
    },
  );
});
