import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  agentWithMemory,
  answering,
  chatAgent,
  converse,
  historyOf,
  lines,
  newThread,
  recorded,
  rounds,
  saidIn,
  say,
  summarizing,
  summaryAlone,
  transcript,
} from "./conversation.js";
import { agentIn } from "./ways.js";

const database = useTestDatabase();
const summary = (number: number) => expect.stringContaining(`summary ${number}`);

it("Recent messages stay within summaries.keepRecentTokens", async () => {
  const config = { summaries: { keepRecentTokens: 700 } };
  const memory = database.memory({ model: summarizing(), config });
  const model = new ScriptedChatModel({ replies: () => "word ".repeat(500) });
  const graph = await agentIn("withMemory", { memory, model });
  const thread = newThread();
  await converse(graph, thread, 1, 2, 3, 4, 5);
  const shown = saidIn(model.calls.at(-1)!.messages).filter(({ type }) => type === "human");
  expect(lines(shown)).toEqual(["human: question 4", "human: question 5"]);
});

describe.each(["full", "bounded"] as const)("a %s session in a subgraph", (session) => {
  it("A session in a subgraph is complete, and the outer graph keeps all messages", async () => {
    const memory = database.memory({ model: summarizing(), config: summaryAlone });
    const model = answering();
    const inner = withMemory(chatAgent(model), memory, { session, injectAs: "system" }).compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("assistant", inner)
      .addEdge(START, "assistant")
      .compile({ checkpointer: memory.checkpointer() });
    const thread = newThread();
    await converse(graph, thread, 1, 2, 3, 4, 5);
    expect(lines((await say(graph, "question 6", thread)).messages)).toEqual(
      rounds(1, 2, 3, 4, 5, 6),
    );
    expect(lines(model.calls[5]!.messages)).toEqual([summary(3), "human: question 6"]);
    expect(await transcript(database, thread)).toEqual(recorded(1, 2, 3, 4, 5, 6));
  });
});

describe.each(["full", "bounded"] as const)("time travel in a %s session", (session) => {
  /** A conversation of six turns whose second summary fails, and its checkpoints. */
  async function conversation(config = summaryAlone) {
    const summarizer = new ScriptedChatModel({
      replies: (_, index) =>
        index === 1
          ? new Error("overloaded")
          : { structured: { reasoning: "none", summary: `summary ${index === 0 ? 1 : index}` } },
    });
    const memory = database.memory({ model: summarizer, config });
    const { model, graph, thread } = agentWithMemory(memory, { session });
    await converse(graph, thread, 1, 2, 3, 4, 5, 6);
    const history = (await historyOf(graph, thread)).toReversed();
    const at = (next: string | undefined, round: number) => {
      const { config } = history.filter((snapshot) => snapshot.next[0] === next)[round - 1]!;
      return { configurable: { ...thread.configurable, ...config.configurable } };
    };
    return { memory, model, graph, thread, at };
  }

  it.each([
    ["before the first summary", 2, rounds(1, 2)],
    ["between two summaries", 4, [summary(1), ...rounds(4)]],
    ["where a summary ended", 5, [summary(2)]],
  ])(
    "Time travel to %s shows the branch with its own summary, and nothing abandoned",
    async (...to) => {
      const [, round, shown] = to;
      const { model, graph, at } = await conversation();
      await say(graph, "another way", at(undefined, round));
      expect(lines(model.calls[6]!.messages)).toEqual([...shown, "human: another way"]);
    },
  );

  it("Time travel shows no recent messages of the branch that was left, nor do later turns", async () => {
    const { model, graph, thread, at } = await conversation({
      summaries: { keepRecentMessages: 6 },
    });
    await say(graph, "another way", at(undefined, 2));
    for (const text of ["and on", "further", "and further"]) await say(graph, text, thread);
    for (const { messages } of model.calls.slice(6)) {
      expect(lines(messages).join()).not.toMatch(/question [3456]/);
      expect(lines(messages).join()).toContain("another way");
    }
  });

  it("Time travel replays a turn with its own messages", async () => {
    const { model, graph, thread, at } = await conversation();
    await graph.invoke(null, at("agent", 3));
    expect(lines(model.calls[6]!.messages)).toEqual([...rounds(1, 2), "human: question 3"]);
    expect((await transcript(database, thread)).at(-1)).toBe("answer 7");
  });
});
