import { jsonrepair } from "jsonrepair";
import {
  brokenRule,
  brokenSchema,
  type Refusals,
  runsOf,
  schemasOf,
  unknownField,
} from "./conversation-rules.js";
import {
  type Answer,
  type NamedSchema,
  namedEvent,
  type Provider,
  type Refusal,
  randomId,
  sign,
  wordsOf,
} from "./provider.js";
import { keywordsIn, type Schema, type SchemaRule } from "./schema-rules.js";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly cache_control?: object;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

export interface AnthropicBody {
  readonly model: string;
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly cache_control?: object;
  readonly system?: string | readonly Block[];
  readonly messages: readonly Message[];
  readonly tools?: readonly { name: string; input_schema: Schema; strict?: boolean }[];
  readonly tool_choice?: { type: string; name?: string };
  readonly thinking?: { type: string };
  readonly output_config?: { format?: { schema: Schema } };
}

// https://docs.claude.com/en/api/errors
const refused = (message: string, status = 400, type = "invalid_request_error"): Refusal => ({
  status,
  body: { type: "error", error: { type, message }, request_id: "req_0" },
});

const blocksOf = (content: Message["content"] = []): readonly Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function namedSchemas({
  tools = [],
  output_config: { format } = {},
}: AnthropicBody): NamedSchema[] {
  const schemas: NamedSchema[] = tools.map(({ name, input_schema: schema, strict }, at) => ({
    of: "tool",
    name,
    place: `tools.${at}.custom`,
    schema,
    isStrict: strict === true,
  }));
  if (!format) return schemas;
  const { schema } = format;
  const place = "output_config.format.schema";
  return [...schemas, { of: "format", name: null, place, schema, isStrict: true }];
}

// https://docs.claude.com/en/api/messages
const refusals: Refusals = {
  noMessages: "messages: at least one message is required",
  noSystemInside:
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  unknownField: "{place}.{what}: Extra inputs are not permitted",
  noContent: "{place}: all messages must have non-empty content",
  blankText: "messages: text content blocks must contain non-whitespace text",
  // https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use#handling-tool-use-and-tool-result-content-blocks
  calledFor:
    "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {what}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
  oneResultACall:
    "{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {what}",
  answered:
    "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {what}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  // Claude 4.6 and later: https://docs.claude.com/en/docs/build-with-claude/prompt-engineering/prefill-claudes-response
  answerable:
    "This model does not support assistant message prefill. The conversation must end with a user message.",
};

/** Results come before all else in a message. */
const resultsOf = (blocks: readonly Block[]): readonly Block[] => {
  const end = blocks.findIndex(({ type }) => type !== "tool_result");
  return end === -1 ? blocks : blocks.slice(0, end);
};

/** @see https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks */
function thinkingError({ messages, thinking }: AnthropicBody): Refusal | null {
  for (const [at, { content }] of messages.entries())
    for (const [index, block] of blocksOf(content).entries())
      if (block.type === "thinking" && block.signature !== sign(block.thinking ?? ""))
        return refused(
          `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`,
        );
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const [first, ...rest] = blocksOf(messages[last]?.content);
  const isInTools = [first, ...rest].some((block) => block?.type === "tool_use");
  if (thinking?.type !== "enabled" || !isInTools || first?.type.endsWith("thinking")) return null;
  return refused(
    `messages.${last}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  );
}

function fieldError(body: AnthropicBody): Refusal | null {
  if (body.max_tokens === undefined) return refused("max_tokens: Field required");
  // https://docs.claude.com/en/docs/build-with-claude/prompt-caching#when-to-use-multiple-breakpoints
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  if (marks > 4)
    return refused(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
  // https://docs.claude.com/en/docs/build-with-claude/extended-thinking#extended-thinking-with-tool-use
  const isForced = ["any", "tool"].includes(body.tool_choice?.type ?? "");
  return body.thinking?.type === "enabled" && isForced
    ? refused("Thinking may not be enabled when tool_choice forces tool use.")
    : null;
}

/** @see https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations */
const schemaRule: SchemaRule = (schema) => {
  const unsupported =
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems";
  const [keyword] = keywordsIn(schema, unsupported);
  if (keyword) return `For '${schema.type}' type, property '${keyword}' is not supported`;
  return schema.type === "object" && schema.additionalProperties !== false
    ? "For 'object' type, 'additionalProperties' must be explicitly set to false"
    : null;
};

const inputUsage = ({ usage: { input, cached, written } }: Answer) => ({
  input_tokens: input - cached - written,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: cached,
});

const stopReason = ({ isCut, refusal, calls }: Answer): string => {
  if (refusal !== null) return "refusal";
  if (isCut) return "max_tokens";
  return calls.length > 0 ? "tool_use" : "end_turn";
};

/** The blocks of an answer, each with the deltas that a stream brings it in. */
function blocks({ reasoning: thinking, text, refusal, calls }: Answer) {
  const said = refusal ?? text;
  const thought = {
    empty: { type: "thinking", thinking: "", signature: "" },
    whole: { thinking, signature: sign(thinking) },
    deltas: [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature: sign(thinking) },
    ],
  };
  const spoken = {
    empty: { type: "text", text: "" },
    whole: { text: said },
    deltas: wordsOf(said).map((word) => ({ type: "text_delta", text: word })),
  };
  const uses = calls.map(({ id, name, args }) => ({
    empty: { type: "tool_use", id, name, input: {} },
    // Without a stream, arguments that were cut are an object of what is whole in them.
    whole: { input: JSON.parse(jsonrepair(args)) },
    deltas: wordsOf(args).map((part) => ({ type: "input_json_delta", partial_json: part })),
  }));
  return [...(thinking ? [thought] : []), ...(said ? [spoken] : []), ...uses];
}

const messageOf = (answer: Answer, content: object[], output_tokens: number) => ({
  id: `msg_${answer.id}`,
  type: "message",
  role: "assistant",
  model: answer.model,
  content,
  stop_reason: content.length > 0 ? stopReason(answer) : null,
  stop_sequence: null,
  usage: { ...inputUsage(answer), output_tokens },
});

/** Anthropic's messages. */
export const anthropic: Provider<AnthropicBody> = {
  path: /^\/v1\/messages$/,
  callId: () => `toolu_${randomId().slice(0, 24)}`,
  read(body) {
    const { system, messages, tools = [], tool_choice: choice } = body;
    const systemBlocks = blocksOf(system);
    const parts = [
      ...tools,
      ...systemBlocks,
      ...messages.flatMap(({ content }) => blocksOf(content)),
    ];
    return {
      model: body.model,
      isStreamed: body.stream === true,
      system: systemBlocks.map(({ text }) => text).join("\n"),
      // Messages of one role that follow each other count as one.
      messages: runsOf(messages, ({ role }, before) => role === before.role).map(
        ({ at, items }) => {
          const inside = items.flatMap(({ content }) => blocksOf(content));
          const uses = inside.filter(({ type }) => type === "tool_use");
          return {
            place: `messages.${at}`,
            role: items[0].role,
            texts: inside.flatMap(({ text }) => text ?? []),
            calls: uses.flatMap(({ id }) => id ?? []),
            results: resultsOf(inside).flatMap(({ tool_use_id: id }) => id ?? []),
            hasMore: inside.some(({ type }) => type !== "text"),
            unknown: items.map((item) => unknownField(item, "role content")).find(Boolean),
          };
        },
      ),
      ...schemasOf(namedSchemas(body), choice?.name),
      // https://docs.claude.com/en/docs/build-with-claude/prompt-caching#how-prompt-caching-works
      parts,
      cacheable: body.cache_control
        ? parts.length
        : parts.findLastIndex((part) => "cache_control" in part) + 1,
    };
  },
  refusalOf: (request, body) =>
    fieldError(body) ??
    brokenRule(request, refusals, (message) => refused(message)) ??
    thinkingError(body) ??
    brokenSchema(request, schemaRule, ({ place }, fault) => refused(`${place}: ${fault}`)),
  // https://docs.claude.com/en/docs/build-with-claude/context-windows
  tooLong: (tokens, limit) => refused(`prompt is too long: ${tokens} tokens > ${limit} maximum`),
  failure(status, retryAfterSeconds) {
    if (status === 404) return refused("Not found", status, "not_found_error");
    if (status !== 429) return refused("Internal server error", status, "api_error");
    const limited = refused(
      "This request would exceed your rate limit.",
      status,
      "rate_limit_error",
    );
    return { ...limited, headers: { "retry-after": String(retryAfterSeconds) } };
  },
  whole: (answer) =>
    messageOf(
      answer,
      blocks(answer).map(({ empty, whole }) => ({ ...empty, ...whole })),
      answer.usage.output,
    ),
  // https://docs.claude.com/en/docs/build-with-claude/streaming
  *events(answer) {
    // Real ones begin at 1, which ChatAnthropic adds to the whole count of `message_delta`.
    yield namedEvent({ type: "message_start", message: messageOf(answer, [], 0) });
    for (const [index, { empty, deltas }] of blocks(answer).entries()) {
      yield namedEvent({ type: "content_block_start", index, content_block: empty });
      for (const delta of deltas) yield namedEvent({ type: "content_block_delta", index, delta });
      yield namedEvent({ type: "content_block_stop", index });
    }
    const delta = { stop_reason: stopReason(answer), stop_sequence: null };
    const usage = { output_tokens: answer.usage.output };
    yield namedEvent({ type: "message_delta", delta, usage });
    yield namedEvent({ type: "message_stop" });
  },
};
