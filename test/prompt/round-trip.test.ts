import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  type InvalidToolCall,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let next = 0;
async function recorded(messages: BaseMessage[]): Promise<readonly BaseMessage[]> {
  const memory = db.memory();
  const thread = { scope, threadId: `round trip ${next++}` };
  await memory.record({ ...thread, messages });
  return (await memory.recall(thread)).gap;
}
async function checkpointed(message: BaseMessage): Promise<BaseMessage> {
  const { serde } = new MemorySaver();
  return serde.loadsTyped(...(await serde.dumpsTyped(message)));
}

const unread = { id: "c", name: "look", args: '{"broken', error: "not JSON" };
const broken: InvalidToolCall = { ...unread, type: "invalid_tool_call" };

// Core's own type of this property is `undefined` under exactOptionalPropertyTypes.
const usage: object = {
  usage_metadata: {
    input_tokens: 1,
    output_tokens: 2,
    total_tokens: 3,
    input_token_details: { cache_read: 1 },
    output_token_details: { reasoning: 1 },
  },
};

const samples: [string, BaseMessage][] = [
  ["a user message", new HumanMessage({ id: "1", content: "hello", name: "ana" })],
  ["an empty message", new HumanMessage({ id: "1", content: "" })],
  ["a system message", new SystemMessage({ id: "1", content: "Be kind." })],
  ["a developer message", new ChatMessage({ id: "1", content: "x", role: "developer" })],
  ["a function message", new FunctionMessage({ id: "1", content: "x", name: "f" })],
  [
    "reasoning, citations and a cache mark",
    new AIMessage({
      id: "1",
      content: [
        { type: "reasoning", reasoning: "hm", signature: "sig==" },
        { type: "thinking", thinking: "hm", signature: "sig==" },
        {
          type: "text",
          text: "yes",
          annotations: [{ type: "citation", url: "https://example.org" }],
        },
        { type: "text", text: "!", cache_control: { type: "ephemeral" } },
      ],
    }),
  ],
  [
    "parallel tool calls, a broken one, usage and metadata",
    new AIMessage({
      id: "1",
      content: "",
      name: "planner",
      tool_calls: [
        { id: "a", name: "look", args: { deep: { nested: [1, null, "x"] } }, type: "tool_call" },
        { id: "b", name: "look", args: {}, type: "tool_call" },
      ],
      invalid_tool_calls: [broken],
      ...usage,
      response_metadata: {
        model_name: "gpt-4.1-mini",
        finish_reason: "tool_calls",
        logprobs: null,
      },
      additional_kwargs: { refusal: null, custom: { a: [1, 2] } },
    }),
  ],
  [
    "a tool's result with artifact, status and parts",
    new ToolMessage({
      id: "1",
      tool_call_id: "a",
      name: "look",
      status: "error",
      content: [{ type: "text", text: "no such file" }],
      artifact: { rows: [{ id: 1 }], nothing: null },
      metadata: { took: 3 },
    }),
  ],
  [
    "NUL characters",
    new ToolMessage({ id: "1", tool_call_id: "a", name: "n\u0000", content: "a\u0000b\u0000" }),
  ],
  [
    "halves of surrogate pairs",
    new HumanMessage({ id: "1", content: "\uD83D and \uDE00", name: "\uD800" }),
  ],
  ["a megabyte of text", new HumanMessage({ id: "1", content: "long text 語 ".repeat(90_000) })],
];

describe("a recorded message", () => {
  it.each(samples)(
    "A recorded message is read back as from a checkpoint: %s",
    async (_, message) => {
      const [back] = await recorded([message]);
      expect(back).toStrictEqual(await checkpointed(message));
      expect(back?.getType()).toBe(message.getType());
      expect(back?.id).toBe(message.id);
      expect(back?.content).toStrictEqual(message.content);
    },
  );
});

it("A recorded message has role, speaker and text in columns", async () => {
  const threadId = `columns ${next++}`;
  await db.memory().record({
    scope,
    threadId,
    messages: [
      new SystemMessage("Be kind."),
      new HumanMessage({
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: "x" },
        ],
        name: "ana",
      }),
      new AIMessage({
        content: "I look",
        tool_calls: [{ id: "a", name: "look", args: { at: 1 }, type: "tool_call" }],
      }),
      new ToolMessage({ tool_call_id: "a", content: "a\u0000b" }),
      new ChatMessage({ content: "x", role: "narrator" }),
    ],
  });
  const { rows } = await db.pool.query(
    `select seq, role, actor, content from "${db.schema}".message m join "${db.schema}".thread t on t.id = m.thread_ref
       where t.thread_id = $1 order by seq`,
    [threadId],
  );
  expect(rows).toEqual([
    { seq: 0, role: "system", actor: null, content: "Be kind." },
    { seq: 1, role: "user", actor: "ana", content: "look\n[image: x]" },
    { seq: 2, role: "assistant", actor: null, content: 'I look\n[calls look {"at":1}]' },
    { seq: 3, role: "tool", actor: null, content: "ab" },
    { seq: 4, role: "other", actor: null, content: "x" },
  ]);
});
