import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
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
