import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  agentWithMemory,
  answering,
  chatAgent,
  lines,
  newThread,
  rounds,
  say,
  summarizing,
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
