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
});
