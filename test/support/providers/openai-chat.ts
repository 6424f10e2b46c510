import {
  brokenRule,
  brokenSchema,
  type Refusals,
  runsOf,
  schemasOf,
  unknownField,
} from "./conversation-rules.js";
import {
  brokenRuleError,
  namedSchema,
  type OpenAISchema,
  openAIError,
  openAIFailure,
  strictSchemaError,
} from "./openai.js";
import {
  type Answer,
  dataEvent,
  type ModelRequest,
  type Provider,
  randomId,
  wordsOf,
} from "./provider.js";
import { strictSchemaRule } from "./schema-rules.js";

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly { text?: string }[];
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { id: string }[];
}

export interface ChatBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { function: OpenAISchema }[];
  readonly tool_choice?: string | { function: { name: string } };
  readonly response_format?: { json_schema?: OpenAISchema };
}

/** A part that is no text, such as a picture, has no `text`. */
const textsOf = (content: ChatMessage["content"]): string[] =>
  typeof content === "string" ? [content] : (content ?? []).flatMap(({ text }) => text ?? []);

/** @param known fields of a message, by its role */
export function readChat(body: ChatBody, known: Record<string, string>): ModelRequest {
  const { messages, tools = [], tool_choice: choice, response_format: format } = body;
  const schemas = tools.map((tool, at) =>
    namedSchema("tool", `tools[${at}].function.parameters`, tool.function),
  );
  if (format?.json_schema)
    schemas.push(namedSchema("format", "response_format", format.json_schema));
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  // Results that follow each other answer the same message.
  const runs = runsOf(messages, ({ role }, before) => role === "tool" && before.role === "tool");
  return {
    model: body.model,
    isStreamed: body.stream === true,
    system: system.flatMap(({ content }) => textsOf(content)).join("\n"),
    messages: runs.map(({ at, items }) => ({
      place: `messages[${at}]`,
      role: items[0].role,
      texts: items.flatMap(({ content }) => textsOf(content)),
      calls: items.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id)),
      results: items.flatMap(({ tool_call_id: id }) => id ?? []),
      hasMore:
        !!items[0].tool_calls || (Array.isArray(items[0].content) && items[0].content.length > 0),
      unknown: items.map((item) => unknownField(item, known[item.role] ?? "")).find(Boolean),
    })),
    ...schemasOf(schemas, typeof choice === "object" ? choice.function.name : undefined),
    // https://platform.openai.com/docs/guides/prompt-caching#structuring-prompts
    parts: [...tools, ...(format ? [format] : []), ...messages],
  };
}

const refusals: Refusals = {
  noMessages:
    "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
  // https://platform.openai.com/docs/api-reference/chat/create#chat_create-messages
  unknownField: "Unknown parameter: '{place}.{what}'.",
  noContent: "Invalid value for 'content': expected a string, got null.",
  // https://platform.openai.com/docs/guides/function-calling#handling-function-calls
  answered:
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {what}",
  calledFor:
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
};

const envelope = ({ id, model }: Answer, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created: 0,
  model,
});

const usageOf = ({ usage: { input, cached, output, reasoning } }: Answer) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

function finishReason({ isCut, isFiltered, calls }: Answer): string {
  if (isFiltered) return "content_filter";
  if (isCut) return "length";
  return calls.length > 0 ? "tool_calls" : "stop";
}

const callsOf = ({ calls }: Answer) =>
  calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: args },
  }));

/** @see https://platform.openai.com/docs/api-reference/chat/object */
export function wholeChat(answer: Answer): object {
  const { text, refusal, calls } = answer;
  const content = text || (refusal === null && calls.length === 0 ? "" : null);
  const tool_calls = callsOf(answer).map(({ index: _, ...call }) => call);
  const message = { role: "assistant", content, refusal, ...(calls.length > 0 && { tool_calls }) };
  return {
    ...envelope(answer, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(answer) }],
    usage: usageOf(answer),
  };
}

/** @see https://platform.openai.com/docs/api-reference/chat-streaming */
export function* chatEvents(answer: Answer): Generator<string> {
  const object = envelope(answer, "chat.completion.chunk");
  const chunk = (delta: object, finish_reason: string | null = null) =>
    dataEvent({ ...object, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  yield chunk({ role: "assistant", content: "", refusal: null });
  for (const content of wordsOf(answer.text)) yield chunk({ content });
  if (answer.refusal !== null) yield chunk({ refusal: answer.refusal });
  for (const { index, function: called, ...call } of callsOf(answer)) {
    yield chunk({ tool_calls: [{ index, ...call, function: { ...called, arguments: "" } }] });
    for (const part of wordsOf(called.arguments))
      yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  yield chunk({}, finishReason(answer));
  yield dataEvent({ ...object, choices: [], usage: usageOf(answer) });
  yield "data: [DONE]\n\n";
}

/** OpenAI's chat completions. Takes several system messages and empty texts. */
export const openAIChat: Provider<ChatBody> = {
  path: /^\/v1\/chat\/completions$/,
  callId: () => `call_${randomId().slice(0, 24)}`,
  read: (body) =>
    readChat(body, {
      system: "role content name",
      // Reasoning models' name for it.
      developer: "role content name",
      user: "role content name",
      assistant: "role content name refusal audio tool_calls function_call",
      tool: "role content name tool_call_id",
    }),
  refusalOf: (request) =>
    brokenRule(request, refusals, brokenRuleError) ??
    brokenSchema(request, strictSchemaRule, strictSchemaError),
  // https://platform.openai.com/docs/guides/conversation-state#managing-the-context-window
  tooLong: (tokens, limit) =>
    openAIError(
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      "messages",
      "context_length_exceeded",
    ),
  failure: openAIFailure,
  whole: wholeChat,
  events: chatEvents,
};
