import { randomBytes } from "node:crypto";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { round } from "../support/spoken.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let next = 0;
const fresh = () => ({ scope, threadId: `record ${next++}` });
const user = (id: string, content = id) => new HumanMessage({ id, content });
const code = (code: string) => expect.objectContaining({ code });

const idsOf = (messages: readonly BaseMessage[]) => messages.map((message) => message.id);

describe("record", () => {
  it("appends in order from seq 0, and counts only what is new", async () => {
    const memory = db.memory();
    const thread = fresh();
    expect(await memory.record({ ...thread, messages: round("r1") })).toEqual({ recorded: 2, lastSeq: 1 });
    const both = [...round("r1"), ...round("r2")];
    expect(await memory.record({ ...thread, messages: both })).toEqual({ recorded: 2, lastSeq: 3 });
    expect(await memory.record({ ...thread, messages: both })).toEqual({ recorded: 0, lastSeq: 3 });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual(["r1-q", "r1-a", "r2-q", "r2-a"]);
  });

  it("keeps the first version of a message that was recorded before", async () => {
    const memory = db.memory();
    const thread = fresh();
    await memory.record({ ...thread, messages: [user("a", "first")] });
    await memory.record({ ...thread, messages: [user("a", "second"), user("b")] });
    const { gap } = await memory.recall(thread);
    expect(gap.map((message) => message.text)).toEqual(["first", "b"]);
  });

  it("takes the last of several with one id in a call, at the first one's place", async () => {
    const memory = db.memory();
    const thread = fresh();
    const messages = [user("a", "draft"), user("b"), user("a", "final")];
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 2, lastSeq: 1 });
    expect((await memory.recall(thread)).gap.map((message) => message.text)).toEqual(["final", "b"]);
  });

  it("takes every message without an id for a new one, and the same object in one call once", async () => {
    const memory = db.memory();
    const thread = fresh();
    const same = new HumanMessage("same");
    await memory.record({ ...thread, messages: [same, same, new HumanMessage("same")] });
    expect(await memory.record({ ...thread, messages: [same] })).toEqual({ recorded: 1, lastSeq: 2 });
    const empty = [new HumanMessage({ id: "", content: "1" }), new HumanMessage({ id: "", content: "2" })];
    expect(await memory.record({ ...thread, messages: empty })).toEqual({ recorded: 2, lastSeq: 4 });
  });

  it("leaves out what tells a state to drop a message, and keeps that message", async () => {
    const memory = db.memory();
    const thread = fresh();
    await memory.record({ ...thread, messages: round("r1") });
    const messages = [new RemoveMessage({ id: "r1-q" }), new RemoveMessage({ id: "unknown" }), user("b")];
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 1, lastSeq: 2 });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual(["r1-q", "r1-a", "b"]);
  });

  it("makes a thread of no messages, without a seq", async () => {
    const memory = db.memory();
    const thread = fresh();
    expect(await memory.record({ ...thread, messages: [] })).toEqual({ recorded: 0, lastSeq: -1 });
    expect(await memory.recall(thread)).toMatchObject({
      lastSeq: -1,
      lastMessageId: null,
      gap: [],
      summary: null,
    });
  });

  it("takes message ids of any characters, and 1,000 bytes of them", async () => {
    const memory = db.memory();
    const thread = fresh();
    const ids = [
      "%",
      "_",
      "a_b",
      "a%b",
      "'",
      '"',
      "\\",
      "{}",
      "NULL",
      "日本",
      "😀",
      "é",
      "e\u0301",
      " ",
      "x".repeat(1_000),
    ];
    const random = randomBytes(500).toString("hex");
    const messages = [...ids, random].map((id) => user(id, "x"));
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 16, lastSeq: 15 });
    expect(await memory.record({ ...thread, messages })).toEqual({ recorded: 0, lastSeq: 15 });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual([...ids, random]);
  });

  it.each([
    ["10 kB long", randomBytes(5_000).toString("hex")],
    ["with a NUL character", "a\u0000"],
    ["with half a surrogate pair", "a\uD800"],
  ])("refuses a message id %s, and records nothing of the call", async (_, id) => {
    const memory = db.memory();
    const thread = fresh();
    const recording = memory.record({ ...thread, messages: [user("good"), user(id, "bad")] });
    await expect(recording).rejects.toThrow(code("INVALID_INPUT"));
    expect((await memory.recall(thread)).lastSeq).toBe(-1);
  });
});

describe("remember", () => {
  it("says what it recorded, and why it starts no summary", async () => {
    const memory = db.memory();
    const thread = fresh();
    expect(await memory.remember({ ...thread, messages: round("r1") })).toEqual({
      recorded: 2,
      lastSeq: 1,
      summary: { started: false, reason: "no_model" },
    });
  });

  it("waits with a summary while a tool call is open", async () => {
    const { OfflineChatModel } = await import("../../src/testing/index.js");
    const memory = db.memory({ model: new OfflineChatModel() });
    const thread = fresh();
    await memory.record({ ...thread, messages: [...round("1"), ...round("2"), ...round("3")] });
    const call = { id: "c1", name: "look", args: {}, type: "tool_call" as const };
    const open = [user("q"), new AIMessage({ id: "calls", content: "", tool_calls: [call] })];
    const waiting = await memory.remember({ ...thread, messages: open });
    expect(waiting.summary).toEqual({ started: false, reason: "round_open" });

    const result = new ToolMessage({ id: "result", tool_call_id: "c1", content: "42" });
    const done = await memory.remember({
      ...thread,
      messages: [...open, result, new AIMessage({ id: "a", content: "42" })],
    });
    expect(done).toMatchObject({
      recorded: 2,
      lastSeq: 9,
      summary: { started: true, window: { startSeq: 0, endSeq: 9 } },
    });
  });
});
