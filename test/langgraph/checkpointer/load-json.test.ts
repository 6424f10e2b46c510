import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadJson } from "../../../src/langgraph/checkpointer/load-json.js";

const serializer = new MemorySaver().serde;
const decoder = new TextDecoder();

async function dumped(value: unknown): Promise<string> {
  const [, bytes] = await serializer.dumpsTyped(value);
  return decoder.decode(bytes);
}

/** Names that LangChain renames, escapes or reads as its own, beside plain ones. */
const names = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom(
    "lc",
    "type",
    "id",
    "kwargs",
    "user_name",
    "a-b",
    "__lc_escaped__",
    "__proto__",
    "toString",
  ),
);
const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined, 1, 2),
);
const { value: plain } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4 }),
  ),
}));
const record = fc.dictionary(names, plain, { maxKeys: 3 });
const common = {
  id: fc.option(fc.uuid(), { nil: undefined }),
  additional_kwargs: record,
  response_metadata: record,
};
const parts = fc.array(
  fc.oneof(fc.record({ type: fc.constant("text"), text: fc.string() }), record),
  { maxLength: 3 },
);
const content = fc.oneof(fc.string(), parts);
const toolCalls = fc.array(
  fc.record({
    name: fc.string(),
    args: record,
    id: fc.string(),
    type: fc.constant("tool_call" as const),
  }),
  { maxLength: 2 },
);
const of = (
  Message: new (fields: never) => BaseMessage,
  fields: Record<string, fc.Arbitrary<unknown>> = {},
) => fc.record({ ...common, content, ...fields }).map((each) => new Message(each as never));
const message = fc.oneof(
  of(HumanMessage),
  of(SystemMessage),
  of(AIMessage, { tool_calls: toolCalls, usage_metadata: fc.option(record, { nil: undefined }) }),
  of(AIMessageChunk, { content: fc.string() }),
  of(ToolMessage, { tool_call_id: fc.string(), artifact: plain }),
  of(ChatMessage, { content: fc.string(), role: fc.string() }),
  fc.uuid().map((id) => new RemoveMessage({ id })),
);
const state = fc.oneof(
  plain,
  fc.array(message, { maxLength: 4 }),
  fc.dictionary(
    names,
    fc.oneof(plain, message, fc.constantFrom(new Set([1]), new Map([["a", 1]]), /x/)),
  ),
);

it("loadJson gives the same value as LangGraph's serializer, or leaves the text to it", () =>
  fc.assert(
    fc.asyncProperty(state, async (value) => {
      const json = await dumped(value);
      const loaded = loadJson(json);
      if (loaded) expect(loaded.value).toStrictEqual(await serializer.loadsTyped("json", json));
    }),
    { numRuns: 400 },
  ));

it("loadJson loads a conversation of people, models and tools without LangGraph's serializer", async () => {
  const messages = [
    new SystemMessage("Be brief."),
    new HumanMessage({ content: [{ type: "text", text: "Hi" }], id: "1" }),
    new AIMessage({
      content: "",
      id: "2",
      additional_kwargs: { refusal: undefined },
      tool_calls: [{ name: "look", args: { for_whom: "me" }, id: "c", type: "tool_call" }],
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    } as never),
    new ToolMessage({ content: "found", tool_call_id: "c", artifact: { rows: [1] } }),
    new AIMessageChunk({ content: "Hello", id: "3" }),
  ];
  const json = await dumped({ messages, removed: undefined });
  expect(loadJson(json)?.value).toStrictEqual(await serializer.loadsTyped("json", json));
});
