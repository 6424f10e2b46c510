import { randomBytes } from "node:crypto";
import {
  AIMessage,
  type BaseMessage,
  type BaseMessageLike,
  HumanMessage,
  RemoveMessage,
} from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { code } from "../support/rejection.js";
import { round } from "../support/spoken.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let next = 0;
const fresh = () => ({ memory: db.memory(), thread: { scope, threadId: `record ${next++}` } });
const user = (id: string, content = id) => new HumanMessage({ id, content });

const idsOf = (messages: readonly BaseMessage[]) => messages.map((message) => message.id);

describe("record", () => {
  it("`record` appends in order from seq 0, and counts only what is new", async () => {
    const { memory, thread } = fresh();
    expect(await memory.record({ ...thread, messages: round("r1") })).toEqual({
      recorded: 2,
      lastSeq: 1,
    });
    const both = [...round("r1"), ...round("r2")];
    expect(await memory.record({ ...thread, messages: both })).toEqual({ recorded: 2, lastSeq: 3 });
    expect(await memory.record({ ...thread, messages: both })).toEqual({ recorded: 0, lastSeq: 3 });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual(["r1-q", "r1-a", "r2-q", "r2-a"]);
  });

  it("`record` keeps the last of several messages with one id in a call, at the first position", async () => {
    const { memory, thread } = fresh();
    const messages = [user("a", "draft"), user("b"), user("a", "final")];
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 2, lastSeq: 1 });
    expect((await memory.recall(thread)).gap.map((message) => message.text)).toEqual([
      "final",
      "b",
    ]);
  });

  it.each<[string, () => BaseMessageLike]>([
    ["a message", () => new HumanMessage("same")],
    ["a message with an empty id", () => new HumanMessage({ id: "", content: "same" })],
    ["a frozen message", () => Object.freeze(new HumanMessage("same"))],
    ["a plain object", () => ({ role: "user", content: "same" })],
    ["a frozen plain object", () => Object.freeze({ role: "user" as const, content: "same" })],
    ["a pair", () => ["user", "same"]],
    ["a serialised message", () => JSON.parse(JSON.stringify(new HumanMessage("same")))],
  ])(
    "`record` recognises %s without an id when it is given again, and keeps an equal one apart",
    async (_, make) => {
      const { memory, thread } = fresh();
      const [one, other] = [make(), make()];
      await Promise.all(
        [1, 2].map(() => memory.record({ ...thread, messages: [one, one, other] })),
      );
      expect(await memory.remember({ ...thread, messages: [one, other] })).toMatchObject({
        recorded: 0,
        lastSeq: 1,
      });
      const { gap } = await memory.recall(thread);
      expect(gap.map((message) => [message.getType(), message.text])).toEqual(
        Array(2).fill(["human", "same"]),
      );
      expect(new Set(idsOf(gap)).size).toBe(2);
    },
  );

  it("`record` accepts every message form of LangGraph, and keeps given ids", async () => {
    const { memory, thread } = fresh();
    const call = { id: "c", name: "look", args: {}, type: "tool_call" as const };
    const messages: BaseMessageLike[] = [
      "hello",
      { role: "assistant", content: "", tool_calls: [call], id: "a" },
      { role: "tool", content: "seen", tool_call_id: "c" },
      { type: "ai", content: [{ type: "text", text: "I see." }] },
      { role: "developer", content: "Be kind." },
    ];
    await memory.remember({ ...thread, messages });
    expect(await memory.remember({ ...thread, messages: messages.slice(1) })).toMatchObject({
      recorded: 0,
    });
    const { gap } = await memory.recall(thread);
    expect(gap.map((message) => message.getType())).toEqual([
      "human",
      "ai",
      "tool",
      "ai",
      "system",
    ]);
    expect(gap[1]).toMatchObject({ id: "a", tool_calls: [{ id: "c", name: "look" }] });
  });

  it.each([
    [[{ role: "user" }]],
    [[{ role: "nobody", content: "x" }]],
    [[{ role: "tool", content: "x" }]],
    [["fine", 7]],
    [[null]],
    [[undefined]],
    [[{}]],
    ["hello"],
    [undefined],
    [null],
    [{ role: "user", content: "x" }],
  ])(
    "`record` refuses the messages %j with a clear error, and records nothing",
    async (messages) => {
      const { memory, thread } = fresh();
      const refusal = { code: "INVALID_INPUT", message: expect.stringContaining("messages") };
      for (const give of [memory.record, memory.remember])
        await expect(give({ ...thread, messages: messages as never })).rejects.toMatchObject(
          refusal,
        );
      expect((await memory.recall(thread)).lastSeq).toBe(-1);
    },
  );

  it.each<[string, string]>([
    ["[Previous context: They met in Porto.]\n\nhello", "hello"],
    [
      "[Previous context: a]\n\n[Previous context: b]\n\nhello\n\nthere]\n\nyou",
      "hello\n\nthere]\n\nyou",
    ],
    ["<memory>\n# Long-term Memory\n- home: Porto\n</memory>\n\nhello", "hello"],
    [
      "What does <memory> mean in <memory>x</memory>?",
      "What does <memory> mean in <memory>x</memory>?",
    ],
    ["I wrote:\n<memory>\nx\n</memory>", "I wrote:\n<memory>\nx\n</memory>"],
    [
      "It says [Previous context: x]\n\nat the top.",
      "It says [Previous context: x]\n\nat the top.",
    ],
    [
      "[Previous context: of what I read] is unclear",
      "[Previous context: of what I read] is unclear",
    ],
    ["## User Profile\nI am Ana.", "## User Profile\nI am Ana."],
  ])("`record` strips only a memory block in front of a user's text: %j", async (said, kept) => {
    const { memory, thread } = fresh();
    const parts = [
      { type: "text", text: said },
      { type: "image_url", image_url: "https://x/y.png" },
    ];
    await memory.record({
      ...thread,
      messages: [user("a", said), new HumanMessage({ id: "b", content: parts })],
    });
    await memory.record({ ...thread, messages: [new AIMessage({ id: "c", content: said })] });
    const { gap } = await memory.recall(thread);
    expect(gap.map((message) => message.text)).toEqual([
      kept,
      `${kept}\n[image: https://x/y.png]`,
      said,
    ]);
    expect(gap[1]!.content).toHaveLength(2);
  });

  it("`record` omits a message that is only a memory block", async () => {
    const { memory, thread } = fresh();
    const block = `<memory>\n# Long-term Memory\n${memoryPreface}\n\n- x: y\n</memory>`;
    const messages: BaseMessageLike[] = [
      { role: "system", content: block },
      { role: "system", content: `Be kind.\n\n${block}` },
      { role: "user", content: block },
      { role: "user", content: `[Previous context: x]\n\n` },
      { role: "user", content: "hello" },
    ];
    await memory.record({ ...thread, messages });
    expect((await memory.recall(thread)).gap.map((message) => message.text)).toEqual([
      "Be kind.",
      "hello",
    ]);
  });

  it("`record` omits a RemoveMessage, and keeps the removed message", async () => {
    const { memory, thread } = fresh();
    await memory.record({ ...thread, messages: round("r1") });
    const messages = [
      new RemoveMessage({ id: "r1-q" }),
      new RemoveMessage({ id: "unknown" }),
      user("b"),
    ];
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 1, lastSeq: 2 });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual(["r1-q", "r1-a", "b"]);
  });

  it("`record` creates a thread without messages", async () => {
    const { memory, thread } = fresh();
    expect(await memory.record({ ...thread, messages: [] })).toEqual({ recorded: 0, lastSeq: -1 });
    expect(await memory.recall(thread)).toMatchObject({
      lastSeq: -1,
      lastMessageId: null,
      gap: [],
      summary: null,
    });
  });

  it("`record` accepts message ids of any characters up to 1,000 bytes", async () => {
    const { memory, thread } = fresh();
    const ids = ["%", "_", "'", "\\", "{}", "NULL", "😀", "e\u0301", " ", "x".repeat(1_000)];
    const random = randomBytes(500).toString("hex");
    const messages = [...ids, random].map((id) => user(id, "x"));
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 11, lastSeq: 10 });
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 0, lastSeq: 10 });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual([...ids, random]);
  });

  it.each([
    ["10 kB long", randomBytes(5_000).toString("hex")],
    ["with a NUL character", "a\u0000"],
    ["with half a surrogate pair", "a\uD800"],
  ])("`record` refuses a message id %s, and records nothing of the call", async (_, id) => {
    const { memory, thread } = fresh();
    const recording = memory.record({ ...thread, messages: [user("good"), user(id, "bad")] });
    await expect(recording).rejects.toThrow(code("INVALID_INPUT"));
    expect((await memory.recall(thread)).lastSeq).toBe(-1);
  });
});

it("`record` refuses a thread of another scope, and creates no owner", async () => {
  const { memory, thread } = fresh();
  await memory.record({ ...thread, messages: [user("a")] });
  const attempt = memory.record({
    ...thread,
    scope: { userId: "a stranger" },
    messages: [user("b")],
  });
  await expect(attempt).rejects.toThrow(code("THREAD_FORBIDDEN"));

  expect(
    (await db.pool.query(`select from "${db.schema}".owner where user_id = 'a stranger'`)).rows,
  ).toEqual([]);
});

it("`remember` reports what it recorded, and why it starts no summary", async () => {
  const { memory, thread } = fresh();
  expect(await memory.remember({ ...thread, messages: round("r1") })).toEqual({
    recorded: 2,
    lastSeq: 1,
    summary: { started: false, reason: "no_model" },
  });
});
