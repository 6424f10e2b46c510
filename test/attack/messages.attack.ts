import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { addressOf, chatAgent, newThread } from "../langgraph/conversation.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const megabytes = (count: number, text = "All work and no play. ") =>
  text.repeat(Math.ceil((count * 1_000_000) / text.length)).slice(0, count * 1_000_000);

const json = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

/** Each level refers to the next twice: as JSON it would have 2^64 parts. */
function doubling(): unknown {
  let value: unknown = "x";
  for (let level = 0; level < 64; level++) value = [value, value];
  return value;
}

const holding = (value: unknown): BaseMessage[] => [
  new AIMessage({
    id: "a",
    content: "calls",
    tool_calls: [{ id: "c", name: "f", args: { of: "c" } }],
  }),
  new ToolMessage({ id: "t", content: "done", tool_call_id: "c", artifact: value }),
];

describe("a message", () => {
  it.each<[string, () => unknown]>([
    ["JSON nested 100,000 deep", () => json(100_000)],
    ["JSON nested 1,000,000 deep", () => json(1_000_000)],
    ["parts that double at each level", doubling],
    ["an array of a billion holes", () => new Array(1_000_000_000)],
    ["a million values", () => Array.from({ length: 1_000_000 }, (_, index) => ({ index }))],
    [
      "300,000 keys",
      () => Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`key ${index}`, 1])),
    ],
    ["10 MB of one text", () => megabytes(10)],
    ["500 MB of one text", () => "x".repeat(500_000_000)],
    ["10 MB of bytes", () => Buffer.alloc(10_000_000)],
    ["an integer of a million digits", () => BigInt(`0x${"f".repeat(1_000_000)}`)],
  ])(
    "A message that holds %s is recorded and recalled, with and without redaction",
    async (_, value) => {
      for (const memory of [
        db.memory(),
        db.memory({ redact: (text) => text.replaceAll("4711", "[number]") }),
      ]) {
        const thread = newAddress();
        const messages = [new HumanMessage({ id: "u", content: "before" }), ...holding(value())];
        messages.push(new AIMessage({ id: "z", content: "after" }));
        expect((await memory.record({ ...thread, messages })).recorded).toBe(4);
        const { gap } = await memory.recall({ ...thread, query: "before" });
        expect(gap.map(({ id, text }) => [id, text])).toEqual([
          ["u", "before"],
          ["a", "calls"],
          // Bytes that a tool returns are told by their size and digest.
          ["t", expect.stringMatching(/^done(\n\[file: 10000000 bytes, sha256:\w{64}\])?$/)],
          ["z", "after"],
        ]);
      }
    },
  );

  it.each<[string, object]>([
    ["text", { content: megabytes(10) }],
    ["one word", { content: megabytes(10, "x") }],
    ["ideographs", { content: megabytes(3, "記憶的圖書館裡有很多書") }],
    ["NUL characters", { content: megabytes(10, "\u0000") }],
    [
      "parts",
      {
        content: Array.from({ length: 100_000 }, () => ({ type: "text", text: megabytes(0.0001) })),
      },
    ],
    ["name", { content: "hello", name: megabytes(10, "Ana Ben Cem ") }],
  ])(
    "A message of 10 MB of %s is remembered, asked for and found beside others",
    async (_, fields) => {
      // Sixty megabytes of JSON take a slow machine seconds: that nothing is lost is what is asked
      // here.
      const memory = db.memory({ config: { retrieval: { timeoutMs: 60_000 } } });
      const thread = newAddress();
      const large = new HumanMessage({ id: "large", ...fields } as never);
      await memory.remember({ ...thread, messages: [new HumanMessage("My cat is Momo."), large] });
      const { gap, omitted } = await memory.recall({ ...thread, query: large.text });
      // The last turn is shown whole; of what is before it, it is said that it is not shown.
      expect(gap.at(-1)?.id).toBe("large");
      expect(gap.length + (omitted?.messages ?? 0)).toBe(2);
      expect(await memory.transcript.search({ ...thread, query: "Momo" })).not.toEqual([]);
    },
  );

  it("A message of 10 MB by a user with a name of 1 MB goes through a graph, and so does the next", async () => {
    const memory = db.memory();
    const agent = chatAgent(new ScriptedChatModel({ replies: ["one", "two"] }));
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const thread = newThread();
    const large = new HumanMessage({ content: megabytes(10), name: megabytes(1, "Ana Ben Cem ") });
    await graph.invoke({ messages: [large] }, thread);
    const { messages } = await graph.invoke(
      { messages: [new HumanMessage("still there?")] },
      thread,
    );
    expect(messages.at(-1)?.text).toBe("two");
    const { gap, omitted } = await memory.recall(addressOf(thread));
    expect(gap.length + (omitted?.messages ?? 0)).toBe(4);
  });
});
