import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  agentWithMemory,
  checkpointed,
  historyOf,
  lines,
  newThread,
  rounds,
  saidIn,
  say,
  summarizing,
  toolAgent,
} from "./conversation.js";
import { agentIn, type Build, type Way, ways } from "./ways.js";

const database = useTestDatabase();
const summary = (number: number) => expect.stringContaining(`summary ${number}`);

const code = "function one() {}\nfunction two() { return 2 }";

const cases: [Way, Partial<Build>][] = [
  ...ways.map((way) => [way, {}] satisfies [Way, object]),
  ["withMemory", { session: "bounded" }],
  ["withMemory", { checkpointer: null }],
  ["withMemory", { injectAs: "text" }],
  ["withMemory", { memoryMode: "passive" }],
  ["nodes", { checkpointer: null }],
];

describe("a request about the last turn, once the summary has caught up", () => {
  it.each(cases)(
    "Memory given by %s %j shows the last turns that a new request refers to",
    async (way, options) => {
      const memory = database.memory({ model: summarizing() });
      const model = new ScriptedChatModel({
        replies: (_messages, index) => (index === 3 ? code : `answer ${index + 1}`),
      });
      const graph = await agentIn(way, { memory, model, ...options });
      const thread = newThread();
      for (const text of ["question 1", "question 2", "question 3", "write two functions"])
        await say(graph, text, thread);
      const { summary: latest, gap } = await memory.recall(addressOf(thread));
      expect([latest?.endSeq, gap]).toEqual([7, []]);
      await say(graph, "change the second function you just wrote", thread);

      const talk = saidIn(model.calls.at(-1)!.messages);
      expect(lines(talk).slice(0, -1)).toEqual([
        ...rounds(2, 3),
        "human: write two functions",
        `ai: ${code}`,
      ]);
      expect(lines(talk).at(-1)).toContain("change the second function you just wrote");
    },
  );
});

describe("recent messages", () => {
  async function lastPrompt(
    config: object,
    numbers: number[],
    options: Parameters<typeof agentWithMemory>[1] = {},
  ) {
    const conversation = agentWithMemory(
      database.memory({ model: summarizing(), config }),
      options,
    );
    for (const round of numbers)
      await say(conversation.graph, `question ${round}`, conversation.thread);
    return { ...conversation, prompt: conversation.model.calls.at(-1)!.messages };
  }
  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  it.each([
    [0, []],
    [1, [5]],
    [2, [5]],
    [3, [4, 5]],
    [100, [1, 2, 3, 4, 5]],
  ])(
    "%i or more recent messages are shown, from the start of a turn",
    async (keepRecentMessages, shown) => {
      const { prompt } = await lastPrompt({ summaries: { keepRecentMessages } }, upTo(6));
      expect(lines(prompt)).toEqual([summary(3), ...rounds(...shown), "human: question 6"]);
    },
  );

  it("Recent messages have the text of an edited state", async () => {
    const { graph, thread, model } = await lastPrompt({}, upTo(6));
    const state = (await graph.getState(thread)).values.messages as BaseMessage[];
    await graph.updateState(thread, {
      messages: [new AIMessage({ id: state.at(-1)!.id!, content: "better answer" })],
    });
    await say(graph, "question 7", thread);
    expect(lines(model.calls.at(-1)!.messages).slice(-3)).toEqual([
      "human: question 6",
      "ai: better answer",
      "human: question 7",
    ]);
  });

  it.each([{}, { session: "bounded" as const }])(
    "Recent messages of another branch are not shown after time travel, nor later: %j",
    async (options) => {
      const { graph, thread, model } = await lastPrompt({}, upTo(6), {
        ...options,
        checkpointer: new MemorySaver(),
      });
      const ended = (await historyOf(graph, thread))
        .toReversed()
        .filter(({ next }) => next.length === 0);
      await say(graph, "another way", {
        configurable: { ...thread.configurable, ...ended[1]!.config.configurable },
      });
      for (const text of ["and on", "further", "and further"]) await say(graph, text, thread);
      for (const { messages } of model.calls.slice(6)) {
        expect(lines(messages).join()).not.toMatch(/question [3456]/);
        expect(lines(messages).join()).toContain("another way");
      }
    },
  );
});

describe("recent messages with tools", () => {
  const look = tool(async ({ what }: { what: string }) => `found ${what} ${"x ".repeat(800)}`, {
    name: "look",
    description: "looks",
    schema: z.object({ what: z.string() }),
  });
  const calls = (what: string): ScriptedReply =>
    ({ toolCalls: [{ name: "look", args: { what } }] }) as never;

  it("Recent messages never part a call from its result, and stay within their tokens", async () => {
    const memory = database.memory({
      model: summarizing(),
      config: { summaries: { keepRecentTokens: 700 } },
    });
    const replies = [1, 2, 3, 4].flatMap((round) => [
      calls(`${round}a`),
      calls(`${round}b`),
      `answer ${round}`,
    ]);
    const { agent, model } = toolAgent([...replies, "last"], [look]);
    const graph = checkpointed(agent, memory);
    const thread = newThread();
    for (const round of [1, 2, 3, 4]) await say(graph, `question ${round}`, thread);
    await say(graph, "and now?", thread);
    expect(lines(model.calls.at(-1)!.messages).map((line) => line.slice(0, 25).trim())).toEqual([
      expect.stringContaining("system: <memory>"),
      "human: question 4",
      "ai: (look)",
      "tool: found 4b x x x x x",
      "ai: answer 4",
      "human: and now?",
    ]);
  });
});
