import type { ProviderName } from "../support/providers/clients.js";
import { sign } from "../support/providers/provider.js";

/** What is refused, the body, what the error says, and a sibling that the rule allows. */
type Case = [rule: string, refused: object, error: string, accepted?: object];

const said = (role: string, content: unknown) => ({ role, content });
const hello = said("user", "Hello.");
const answer = said("assistant", "Yes?");
const schema = (fields: object, more: object = {}) => ({
  type: "object",
  properties: fields,
  ...more,
});
const closed = { additionalProperties: false };
const field = { a: { type: "string" } };

const chat = (...messages: object[]) => ({ model: "m", messages });
const called = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const result = (id: string) => ({ role: "tool", content: "1", tool_call_id: id });
const format = (of: object) => ({
  ...chat(hello),
  response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema: of } },
});
const [a, b] = ["aaaaaaaaa", "bbbbbbbbb"] as const;
const strictSchemas: Case[] = [
  [
    "an open object in strict mode",
    format(schema({})),
    "In context=(), 'additionalProperties' is required to be supplied and to be false.",
  ],
  [
    "an optional field in strict mode",
    format(schema({ o: schema(field, closed) }, { required: ["o"], ...closed })),
    "In context=('properties', 'o'), 'required'",
  ],
  [
    "an unsupported keyword in strict mode",
    format(schema({}, { ...closed, allOf: [] })),
    "'allOf' is not permitted",
  ],
];

const claude = (...messages: object[]) => ({ model: "m", max_tokens: 9, messages });
const uses = (...ids: string[]) =>
  said(
    "assistant",
    ids.map((id) => ({ type: "tool_use", id, name: "f", input: {} })),
  );
const toolResult = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "1" });
const text = (of: string) => ({ type: "text", text: of });
const thought = (signature: string) => ({ type: "thinking", thinking: "Hm.", signature });
const thinking = { thinking: { type: "enabled", budget_tokens: 1024 } };
const use = { type: "tool_use", id: "a", name: "f", input: {} };
const outputFormat = (of: object) => ({
  ...claude(hello),
  output_config: { format: { type: "json_schema", schema: of } },
});
const marked = (count: number) =>
  claude(said("user", Array(count).fill({ ...text("a"), cache_control: { type: "ephemeral" } })));

const gemini = (...contents: object[]) => ({ contents });
const parts = (role: string, ...of: object[]) => ({ role, parts: of });
const asks = parts("user", { text: "Hello." });
const signature = { thoughtSignature: sign("f{}") };
const functionCall = { functionCall: { name: "f", args: {} } };
const calls = parts("model", { ...functionCall, ...signature });
const responds = parts("user", { functionResponse: { name: "f", response: {} } });
const declared = (parameters: object) => ({
  ...gemini(asks),
  tools: [{ functionDeclarations: [{ name: "f", parameters }] }],
});

const responses = (...input: object[]) => ({ model: "m", input });
const item = (id: string, call_id: string) => ({
  type: "function_call",
  ...(id && { id }),
  call_id,
  name: "f",
  arguments: "{}",
});
const output = { type: "function_call_output", call_id: a, output: "1" };
const reasoning = (more: object = {}) => ({
  type: "reasoning",
  id: "rs_1r",
  summary: [{ type: "summary_text", text: "Hm." }],
  ...more,
});
const encrypted = (text: string) => ({ encrypted_content: sign(text) });

/** What each provider takes. */
export const plainRequests: Record<ProviderName, object> = {
  "chat completions": chat(hello),
  responses: responses(hello),
  anthropic: claude(hello),
  google: gemini(asks),
  "strict compatible": chat(hello),
};

export const refusedRequests: Record<ProviderName, Case[]> = {
  "chat completions": [
    ["no messages", chat(), "Invalid 'messages': empty array"],
    [
      "one of two parallel calls without result",
      chat(hello, called(a, b), result(a)),
      `did not have response messages: ${b}`,
      chat(hello, called(a, b), result(b), result(a)),
    ],
    [
      "a result that comes after another message",
      chat(hello, called(a), answer, result(a)),
      `did not have response messages: ${a}`,
    ],
    ["a result without call", chat(hello, result(a)), "must be a response to a preceeding message"],
    [
      "an answer without content",
      chat(hello, said("assistant", null)),
      "expected a string, got null",
    ],
    [
      "an unknown field",
      chat({ ...hello, id: "1" }),
      "Unknown parameter: 'messages[0].id'",
      chat({ ...hello, name: "Ana" }, said("system", "A."), said("system", "B.")),
    ],
    ...strictSchemas,
  ],
  responses: [
    ["no input", responses(), "Missing required parameter: 'input'"],
    [
      "a call without output",
      responses(hello, item("", a)),
      `No tool output found for function call ${a}.`,
    ],
    [
      "an output without call",
      responses(hello, output),
      `No tool call found for function call output with call_id ${a}.`,
    ],
    [
      "a reasoning item with nothing after it",
      responses(hello, reasoning()),
      "'rs_1r' of type 'reasoning' was provided without its required following item",
    ],
    [
      "a call without its reasoning item",
      responses(hello, item("fc_1r_0", a), output),
      "was provided without its required 'reasoning' item: 'rs_1r'",
      responses(hello, reasoning(), item("fc_1r_0", a), output),
    ],
    [
      "a reasoning item that was not stored",
      { ...responses(hello, reasoning(), answer), store: false },
      "Items are not persisted when `store` is set to false",
      { ...responses(hello, reasoning(encrypted("Hm.")), answer), store: false },
    ],
    [
      "reasoning that was changed",
      responses(hello, reasoning(encrypted("Ah.")), answer),
      "could not be verified",
    ],
    [
      "an id of another kind",
      responses(hello, { ...answer, id: "run-1" }),
      "Expected an ID that begins with 'msg'",
    ],
    [
      "an answer of input texts",
      responses(hello, said("assistant", [{ type: "input_text", text: "Yes?" }])),
      "Supported values are: 'output_text' and 'refusal'.",
    ],
    [
      "an unknown field",
      responses({ ...hello, name: "Ana" }),
      "Unknown parameter: 'input[0].name'",
    ],
    [
      "an open object in strict mode",
      {
        ...responses(hello),
        tools: [{ type: "function", name: "f", strict: true, parameters: schema({}) }],
      },
      "Invalid schema for function 'f'",
    ],
  ],
  anthropic: [
    ["no messages", claude(), "at least one message is required"],
    ["no limit", chat(hello), "max_tokens: Field required"],
    [
      "one of two parallel calls without result",
      claude(hello, uses("a", "b"), said("user", [toolResult("a")])),
      "without `tool_result` blocks immediately after: b.",
      claude(hello, uses("a", "b"), said("user", [toolResult("b"), toolResult("a")])),
    ],
    [
      "a result after a text",
      claude(hello, uses("a"), said("user", [text("So?"), toolResult("a")])),
      "without `tool_result` blocks immediately after: a.",
    ],
    [
      "a result without call",
      claude(said("user", [toolResult("a")])),
      "unexpected `tool_use_id` found in `tool_result` blocks: a.",
    ],
    [
      "two results of one call",
      claude(hello, uses("a"), said("user", [toolResult("a"), toolResult("a")])),
      "each tool_use must have a single result",
    ],
    [
      "a system message within",
      claude(said("system", "Be kind."), hello),
      'Unexpected role "system"',
    ],
    ["a blank text", claude(said("user", " ")), "non-whitespace text"],
    ["no content", claude(said("user", [])), "non-empty content"],
    [
      "an unknown field",
      claude({ ...hello, name: "Ana" }),
      "messages.0.name: Extra inputs are not permitted",
    ],
    [
      "an answer to go on with",
      claude(hello, answer),
      "The conversation must end with a user message",
    ],
    ["five breakpoints", marked(5), "A maximum of 4 blocks with cache_control", marked(4)],
    [
      "a call that lost its thinking",
      { ...claude(hello, said("assistant", [use]), said("user", [toolResult("a")])), ...thinking },
      "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
      {
        ...claude(
          hello,
          said("assistant", [thought(sign("Hm.")), use]),
          said("user", [toolResult("a")]),
        ),
        ...thinking,
      },
    ],
    [
      "thinking that was changed",
      claude(hello, said("assistant", [thought("x"), text("Yes?")]), hello),
      "messages.1.content.0: Invalid `signature` in `thinking` block",
    ],
    [
      "a forced call with thinking",
      { ...claude(hello), ...thinking, tool_choice: { type: "any" } },
      "Thinking may not be enabled when tool_choice forces tool use.",
      { ...claude(hello), ...thinking, tool_choice: { type: "auto" } },
    ],
    [
      "an unsupported keyword",
      outputFormat(schema({ n: { type: "integer", minimum: 1 } }, closed)),
      "For 'integer' type, property 'minimum' is not supported",
    ],
    [
      "an open object",
      outputFormat(schema({})),
      "'additionalProperties' must be explicitly set to false",
    ],
  ],
  google: [
    ["no contents", gemini(), "contents is not specified"],
    [
      "one of two parallel calls without response",
      gemini(
        asks,
        parts("model", { ...functionCall, ...signature }, { functionCall: { name: "g" } }),
        responds,
      ),
      "number of function response parts is equal",
    ],
    [
      "a response without call",
      gemini(asks, responds),
      "function response turn comes immediately after a function call turn",
    ],
    [
      "a call that nobody asked for",
      gemini(calls, responds),
      "function call turn comes immediately after a user turn",
    ],
    [
      "an empty text",
      gemini(parts("user", { text: "" })),
      "contents[0].parts[0].data: required oneof field 'data'",
    ],
    ["no parts", gemini(parts("user")), "contents.parts must not be empty"],
    [
      "a system message within",
      gemini(parts("system", { text: "Be kind." }), asks),
      "Please use a valid role: user, model.",
    ],
    [
      "an unknown keyword",
      declared(schema({}, closed)),
      "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters'",
    ],
    [
      "a call of this turn without signature",
      gemini(asks, parts("model", functionCall), responds),
      "Function call is missing a thought_signature",
      gemini(asks, parts("model", functionCall), responds, parts("model", { text: "1." }), asks),
    ],
    [
      "a signature that was changed",
      gemini(asks, parts("model", { ...functionCall, thoughtSignature: "x" }), responds),
      "Corrupted thought signature.",
      gemini(asks, calls, responds),
    ],
  ],
  "strict compatible": [
    [
      "a name",
      chat({ ...hello, name: "Ana" }),
      "messages[0].name\n  Extra inputs are not permitted",
      chat(hello),
    ],
    ["two messages of the user in a row", chat(hello, hello), "conversation roles must alternate"],
    [
      "a second system message",
      chat(said("system", "A."), said("system", "B."), hello),
      "conversation roles must alternate",
    ],
    ["an answer to go on with", chat(hello, answer), "Expected last role User or Tool"],
    [
      "a call without result",
      chat(hello, called(a, b), result(a)),
      "Not the same number of function calls and responses",
      chat(hello, called(a, b), result(a), result(b)),
    ],
    [
      "an id of another form",
      chat(hello, called("call_1"), result("call_1")),
      "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
    ],
    [
      "an unsupported keyword",
      format(schema({ list: { type: "array", uniqueItems: true } })),
      "contains features not supported by xgrammar",
    ],
  ],
};
