import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { memoryMiddleware } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, lines, newThread, say, summarizing } from "./conversation.js";

const database = useTestDatabase();
const everyRound = { summaries: { afterSeq: 1, keepRecentMessages: 0 } };

describe("memoryMiddleware", () => {
  it("keeps runs of many threads at the same time apart", async () => {
    const memory = database.memory({ model: summarizing(), config: everyRound });
    const model = new ScriptedChatModel({ replies: (messages) => `you said ${messages.at(-1)!.text}` });
    const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
    const threads = Array.from({ length: 6 }, (_, index) => ({ name: `name-${index}`, thread: newThread() }));
    await Promise.all(threads.map(({ name, thread }) => say(agent, name, thread)));
    const before = await Promise.all(threads.map(({ thread }) => memory.recall(addressOf(thread))));
    await Promise.all(threads.map(({ name, thread }) => say(agent, `again ${name}`, thread)));
    for (const [index, { name }] of threads.entries()) {
      const call = model.calls.find(({ messages }) => messages.at(-1)!.text === `again ${name}`);
      expect(lines(call!.messages)).toEqual([
        expect.stringContaining(before[index]!.summary!.text),
        `human: again ${name}`,
      ]);
    }
  });

  it("keeps the threads of one run apart", async () => {
    const memory = database.memory({ model: summarizing(), config: everyRound });
    const model = new ScriptedChatModel({ replies: (messages) => `you said ${messages.at(-1)!.text}` });
    const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
    const threads = [newThread(), newThread()];
    for (const [index, thread] of threads.entries()) await say(agent, `first ${index}`, thread);
    const asksBoth = new StateGraph(MessagesAnnotation)
      .addNode("both", async () => {
        await Promise.all(threads.map((thread, index) => say(agent, `second ${index}`, thread)));
        return {};
      })
      .addEdge(START, "both")
      .compile();
    await asksBoth.invoke({ messages: [] });
    for (const index of [0, 1]) {
      const call = model.calls.find(({ messages }) => messages.at(-1)!.text === `second ${index}`);
      expect(call!.messages[0]!.text).toContain(`summary ${index + 1}`);
    }
  });
});
