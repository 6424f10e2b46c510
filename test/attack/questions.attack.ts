import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { answering, chatAgent, newThread, say, transcript } from "../langgraph/conversation.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const words = (count: number) =>
  Array.from({ length: count }, (_, index) => `word${index.toString(36)}`);

describe("a question", () => {
  it.each<[string, string]>([
    ["one word of 10 MB", "x".repeat(10_000_000)],
    ["words of 200 letters", "abcdefghij".repeat(20).concat(" ").repeat(1_000)],
    ["10 MB of different words", words(1_500_000).join(" ")],
    ["10 MB of ideographs", "記憶".repeat(1_700_000)],
    ["10 MB of marks on one letter", `e${"\u0301".repeat(5_000_000)}`],
    ["10 MB of brackets, quotes and operators", `(&|!:*'"<->)`.repeat(800_000)],
    ["10 MB of dates", "on 25 May 2022, ".repeat(640_000)],
  ])(
    "A question of %s is answered in a run, recorded, and costs nobody else their turn",
    async (_, text) => {
      const memory = db.memory();
      const graph = withMemory(chatAgent(answering()), memory).compile({
        checkpointer: memory.checkpointer(),
      });
      const [asker, bystander] = [newThread(), newThread()];
      await memory.memories.add({
        scope: { userId: asker.configurable.user_id },
        memories: { text: "The user plays chess." },
      });
      const [, other] = await Promise.all([
        say(graph, text, asker),
        say(graph, "hello", bystander),
      ]);
      expect(other.messages).toHaveLength(2);
      await say(graph, "Who plays chess?", asker);
      expect(await transcript(db, asker)).toHaveLength(4);
      const hits = await memory.query({
        scope: { userId: asker.configurable.user_id },
        query: "chess",
      });
      expect(hits).toHaveLength(1);
    },
  );

  it("A question in the words of 400 long messages is searched for by five users at once", async () => {
    const memory = db.memory();
    const thread = newAddress();
    const vocabulary = words(2_200);
    const messages = Array.from(
      { length: 400 },
      (_, message) =>
        new HumanMessage(
          Array.from(
            { length: 500 },
            (_, place) => vocabulary[(message * 7 + place * 3) % 2_200],
          ).join(" "),
        ),
    );
    await memory.record({ ...thread, messages });
    const query = vocabulary.join(" ").slice(0, 10_000);
    const begun = performance.now();
    const recalled = await Promise.all(
      Array.from({ length: 5 }, () => memory.recall({ ...thread, query })),
    );
    expect(recalled.map(({ gap, omitted }) => gap.length + (omitted?.messages ?? 0))).toEqual(
      Array(5).fill(400),
    );
    // Unbounded, one such question took a server five seconds.
    if (onServer()) expect(performance.now() - begun).toBeLessThan(15_000);
  });
});

describe("a message of a megabyte", () => {
  it.each<[string, string]>([
    ["opening tags of the memory block", "<memory>".repeat(125_000)],
    ["opening and closing tags", "<memory></memory".repeat(62_500)],
    ["beginnings of a context", "[Previous context: ".repeat(52_000)],
    ["instructions that never end", "ignore all previous ".repeat(50_000)],
    ["line breaks", "\n".repeat(1_000_000)],
  ])("A megabyte of %s costs the worker a few calls, and is done with", async (_, text) => {
    const model = new ScriptedChatModel({
      replies: () => ({
        structured: { reasoning: "none", facts: [], summary: "Nothing.", verdicts: [] },
      }),
    });
    const memory = db.memory({ model, config: { memories: { extract: true, episodes: false } } });
    const thread = newAddress();
    await memory.remember({ ...thread, messages: [new HumanMessage(`${text} My name is Ana.`)] });
    await memory.idle();
    // It is long enough for a summary as well.
    for (const task of ["fact_extraction", "conversation_summary"]) {
      const calls = model.calls.filter(({ toolNames }) => toolNames[0] === task);
      expect([task, calls.length <= 8]).toEqual([task, true]);
    }
    expect(model.calls.length).toBeLessThanOrEqual(16);
    const { rows } = await db.pool.query(
      `select k.attempts, k.retry_at from "${db.schema}".work k
       join "${db.schema}".thread t on t.id = k.thread_ref where t.thread_id = $1 and k.kind = 'facts'`,
      [thread.threadId],
    );
    expect(rows).toEqual([{ attempts: 0, retry_at: null }]);
  });
});
