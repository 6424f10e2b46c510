import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  mapStoredMessagesToChatMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxJsonDepth } from "../../src/input/plain-json.js";
import { decodeMessage, encodeMessage } from "../../src/messages/message-codec.js";
import { anyJson } from "../support/any-json.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let next = 0;
const fresh = () => ({ scope, threadId: `hostile ${next++}` });

const nested = (depth: number): unknown => {
  let value: unknown = "core";
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { in: value };
  return value;
};

const cyclic = () => {
  const value: Record<string, unknown> = { says: "hello" };
  value.self = value;
  value.list = [value];
  return value;
};

const builder = (...id: string[]) => ({
  lc: 1,
  type: "constructor",
  id,
  kwargs: { content: "built" },
});
const evil = {
  get broken() {
    throw new Error("no");
  },
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const values: [string, () => unknown][] = [
  ["a value nested 5,000 deep", () => nested(5_000)],
  ["a value nested 100,000 deep", () => nested(100_000)],
  ["an object within itself", cyclic],
  ["a large integer", () => ({ n: 10n ** 5_000n })],
  ["a getter that throws", () => evil],
  ["a toJSON that throws", () => ({ toJSON: () => evil.broken })],
  ["a toJSON that gives itself", () => ({ toJSON: () => ({ toJSON: () => evil }) })],
  ["a revoked proxy", revoked],
  ["a proxy that lies", () => new Proxy([], { get: (_, key) => (key === "length" ? 1e15 : "x") })],
  ["symbols and functions", () => ({ [Symbol("s")]: 1, f: () => 1, list: [Symbol("t"), () => 2] })],
  [
    "maps, sets, dates, bytes",
    () => [new Map([[{}, 1]]), new Set([1]), new Date(Number.NaN), Buffer.from("x")],
  ],
  [
    "typed arrays",
    () => [new Float64Array([1, Number.NaN]), new BigInt64Array([1n]), new ArrayBuffer(4)],
  ],
  ["a constructor of LangChain's", () => builder("langchain_core", "messages", "HumanMessage")],
  ["an unknown constructor", () => builder("evil", "Code")],
  [
    "a constructor that is escaped",
    () => ({ __lc_escaped__: builder("langchain_core", "prompts", "PromptTemplate") }),
  ],
  ["a secret", () => ({ lc: 1, type: "secret", id: ["OPENAI_API_KEY"] })],
  ["LangChain's not_implemented", () => ({ lc: 1, type: "not_implemented", id: ["x"] })],
  [
    "LangGraph's records",
    () => [
      { lc: 2, type: "undefined" },
      { lc: 2, type: "constructor", id: ["Set"], args: [[1]] },
    ],
  ],
  [
    "prototypes",
    () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": 2}'),
  ],
  ["halves of surrogate pairs and NUL", () => ({ "\uD800\u0000": "\uDC00\u0000" })],
];
const holders = (value: unknown): BaseMessage[] => [
  new HumanMessage({ id: "parts", content: [{ type: "text", text: "said" }, value] as never }),
  new HumanMessage({
    id: "part",
    content: [
      { type: "text", text: "said" },
      { type: "data", value },
    ] as never,
  }),
  new HumanMessage({ id: "kwargs", content: "said", additional_kwargs: { value } }),
  new AIMessage({ id: "metadata", content: "said", response_metadata: { value } }),
  new AIMessage({
    id: "args",
    content: "said",
    tool_calls: [{ id: "c", name: "f", args: { value } }],
  }),
  new ToolMessage({ id: "artifact", content: "said", tool_call_id: "c", artifact: value }),
];

describe("hostile messages", () => {
  it.each(values)(
    "A message with %s is recorded with the others, and recalled",
    async (_, value) => {
      const memory = db.memory();
      const thread = fresh();
      const messages = [new HumanMessage({ id: "before", content: "one" }), ...holders(value())];
      messages.push(new AIMessage({ id: "after", content: "two" }));
      expect((await memory.record({ ...thread, messages })).recorded).toBe(messages.length);
      const { gap } = await memory.recall(thread);
      expect(gap.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
      expect(gap.map((message) => message.getType())).toEqual(
        messages.map((message) => message.getType()),
      );
      expect(gap.map(({ text }) => text.slice(0, 4))).toEqual([
        "one",
        ...Array(6).fill("said"),
        "two",
      ]);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  it.each<[string, object]>([
    ["content that is null", { content: null }],
    ["parts that are null", { content: [null, undefined, 5, "text"] }],
    ["content that is an object", { content: { type: "text", text: "alone" } }],
    ["metadata that is text", { content: "x", additional_kwargs: "x" }],
    ["a name that is no text", { content: "x", name: { first: "Ana" } }],
    ["a name of 4,000 random characters", { content: "x", name: randomIdeographs(4_000) }],
  ])("A message with %s is recorded, and its thread stays searchable", async (_, fields) => {
    const memory = db.memory();
    const thread = fresh();
    const odd = new HumanMessage({ id: "odd", ...fields } as never);
    await memory.record({
      ...thread,
      messages: [new HumanMessage({ id: "plain", content: "tea" }), odd],
    });
    expect((await memory.recall(thread)).gap.map(({ id }) => id)).toEqual(["plain", "odd"]);
    expect(await memory.transcript.search({ scope, query: "tea" })).not.toEqual([]);
  });

  it("A message is searched to the end of its first megabyte, and an event counts what follows", async () => {
    const memory = db.memory();
    const thread = fresh();
    const different = Array.from({ length: 20_000 }, (_, index) => `word${index}`).join(" ");
    const content = `${different}${" tea".repeat(500_000)}`
      .slice(0, 999_989)
      .concat(" marmalade. Chutney");
    await memory.record({ ...thread, messages: [new HumanMessage({ id: "long", content })] });
    for (const [query, hits] of [
      ["marmalade", 1],
      ["word19999", 1],
      ["Chutney", 0],
    ] as const)
      expect(
        await memory.transcript.search({ scope, query, threadId: thread.threadId }),
      ).toHaveLength(hits);
    expect(await memory.events.list({ scope, threadId: thread.threadId })).toMatchObject([
      { op: "create", step: "remember", status: "skipped", detail: "8 characters not searched" },
    ]);
  });

  it("A message that was altered in the table is read back by role, id, name and text", async () => {
    const memory = db.memory();
    const thread = fresh();
    const messages = [
      new HumanMessage({ id: "u", content: "hello", name: "Ana" }),
      new AIMessage({ id: "a", content: "hi" }),
      new SystemMessage({ id: "s", content: "Be kind." }),
      new ToolMessage({ id: "t", content: "42", tool_call_id: "c" }),
    ];
    await memory.record({ ...thread, messages });
    for (const serialised of [
      "",
      "{",
      "null",
      "[]",
      '{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{}}',
      '{"type":"toString","data":{}}',
      '{"type":"remove","data":{"id":"u"}}',
      '{"type":"human","data":"hello"}',
    ]) {
      await db.pool.query(
        `update "${db.schema}".message set serialised = $1 where thread_ref =
         (select id from "${db.schema}".thread where thread_id = $2)`,
        [serialised, thread.threadId],
      );
      const { gap } = await memory.recall(thread);
      expect(
        gap.map((message) => [message.getType(), message.id, message.name, message.text]),
      ).toEqual([
        ["human", "u", "Ana", "hello"],
        ["ai", "a", undefined, "hi"],
        ["system", "s", undefined, "Be kind."],
        ["tool", "t", undefined, "42"],
      ]);
    }
  });
});

describe("the codec", () => {
  const key = fc.oneof(
    fc.string({ maxLength: 6 }),
    // Not "__proto__", which neither checkpoints nor transcripts keep.
    fc.constantFrom("lc", "__lc_escaped__", "type", "id", "kwargs", "toJSON", "constructor"),
  );
  const leaf = fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom(1, 2, "constructor", "undefined", "secret", null, true, 0.5),
  );
  const { json, record } = anyJson(key, leaf);
  const back = (message: BaseMessage) => decodeMessage(encodeMessage(message));

  it("The codec round-trips messages with any data", () =>
    fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary" }),
        record,
        record,
        json,
        async (content, kwargs, args, artifact) => {
          const id = "1";
          const call = { id: "c", name: "f", args, type: "tool_call" as const };
          const said = new AIMessage({
            id,
            content,
            tool_calls: [call],
            additional_kwargs: kwargs,
            name: "agent",
          });
          const metadata = { response_metadata: kwargs };
          const result = new ToolMessage({
            id,
            content,
            tool_call_id: "c",
            artifact,
            status: "error",
            ...metadata,
          });
          const parts = new HumanMessage({
            id,
            content: [
              { type: "text", text: content },
              { type: "custom", args },
            ],
          });
          for (const message of [said, result, parts]) {
            const copy = back(message);
            expect(copy.constructor).toBe(message.constructor);
            expect({ ...copy, lc_kwargs: null }).toEqual({ ...message, lc_kwargs: null });
          }
        },
      ),
      { numRuns: 300 },
    ));

  it("The codec encodes any value, and keeps type, id, name and text", async () => {
    const odd = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
      key,
    });
    await fc.assert(
      fc.asyncProperty(fc.string(), odd, odd, async (text, one, other) => {
        const fields = {
          id: "1",
          content: text,
          name: "ana",
          additional_kwargs: { one },
          response_metadata: { other },
        };
        const call = { id: "c", name: "f", args: one as object };
        for (const message of [
          new HumanMessage(fields),
          new SystemMessage(fields),
          new AIMessage({ ...fields, tool_calls: [call], usage_metadata: other as never }),
          new ToolMessage({ ...fields, tool_call_id: "c", artifact: one }),
          new AIMessageChunk({
            ...fields,
            tool_call_chunks: [{ id: "c", name: "f", args: text, index: 0 }],
          }),
        ]) {
          const copy = back(message);
          expect([copy.getType(), copy.id, copy.name, copy.text]).toEqual([
            message.getType(),
            "1",
            "ana",
            text,
          ]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("The codec keeps 40 levels of nesting, also readable by LangChain, and marks a cut", () => {
    const kept = new ToolMessage({
      content: "x",
      tool_call_id: "c",
      artifact: nested(maxJsonDepth),
    });
    expect((back(kept) as ToolMessage).artifact).toEqual(kept.artifact);
    const deeper = new ToolMessage({
      content: "x",
      tool_call_id: "c",
      artifact: nested(maxJsonDepth + 1),
    });
    expect(JSON.stringify((back(deeper) as ToolMessage).artifact)).toContain("nested too deeply");
    const [read] = mapStoredMessagesToChatMessages([JSON.parse(encodeMessage(kept))]);
    expect((read as ToolMessage).artifact).toEqual(kept.artifact);
  });
});

const randomIdeographs = (count: number): string =>
  Array.from({ length: count }, () =>
    String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000)),
  ).join("");
