import {
  brokenRule,
  brokenSchema,
  type Refusals,
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
  namedEvent,
  type Provider,
  type Refusal,
  randomId,
  sign,
  wordsOf,
} from "./provider.js";
import { strictSchemaRule } from "./schema-rules.js";

interface Item {
  readonly type?: string;
  readonly id?: string;
  readonly role?: string;
  readonly content?: string | readonly { type: string; text?: string }[];
  readonly call_id?: string;
  readonly summary?: readonly { text: string }[];
  readonly encrypted_content?: string | null;
}

export interface ResponsesBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly store?: boolean;
  readonly instructions?: string;
  readonly input?: string | readonly Item[];
  readonly tools?: readonly OpenAISchema[];
  readonly tool_choice?: string | { name?: string };
  readonly text?: { format?: OpenAISchema };
}

const itemsOf = ({ input = [] }: ResponsesBody): readonly Item[] =>
  typeof input === "string" ? [{ role: "user", content: input }] : input;

const textsOf = ({ content = [] }: Item): string[] =>
  typeof content === "string" ? [content] : content.flatMap(({ text }) => text ?? []);

// https://platform.openai.com/docs/api-reference/responses/create
const refusals: Refusals = {
  noMessages: "Missing required parameter: 'input'.",
  unknownField: "Unknown parameter: '{place}.{what}'.",
  noContent: "Missing required parameter: '{place}.content'.",
  // https://platform.openai.com/docs/guides/function-calling#handling-function-calls
  calledFor: "No tool call found for function call output with call_id {what}.",
  answered: "No tool output found for function call {what}.",
};
const known: Record<string, string> = {
  message: "type id role content status phase",
  function_call: "type id call_id name arguments status namespace",
  function_call_output: "type id call_id output status",
  reasoning: "type id summary encrypted_content content status",
};
const prefixes: Record<string, string> = { function_call: "fc", reasoning: "rs" };

function itemError(item: Item, at: number): Refusal | null {
  const { type = "message", id, role, content = "" } = item;
  const prefix = prefixes[type] ?? (role === "assistant" ? "msg" : "");
  if (id !== undefined && !id.startsWith(prefix))
    return openAIError(
      `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`,
      `input[${at}].id`,
      "invalid_value",
    );
  const expected = role === "assistant" ? /^(output_text|refusal)$/ : /^input_/;
  const odd =
    typeof content === "string" ? -1 : content.findIndex((part) => !expected.test(part.type));
  if (odd === -1) return null;
  const supported =
    role === "assistant"
      ? "'output_text' and 'refusal'"
      : "'input_text', 'input_image', and 'input_file'";
  return openAIError(
    `Invalid value. Supported values are: ${supported}.`,
    `input[${at}].content[${odd}]`,
    "invalid_value",
  );
}

/** @see https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context */
function reasoningError(items: readonly Item[], isStored: boolean): Refusal | null {
  for (const [
    at,
    { type, id = "", summary = [], encrypted_content: encrypted },
  ] of items.entries()) {
    // An answer that was reasoned has a mark in its ids.
    const reason = /^(?:fc|msg)_(\w+r)(?:_\d+)?$/.exec(id)?.[1];
    if (reason && !items.slice(0, at).some((item) => item.id === `rs_${reason}`))
      return openAIError(
        `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: 'rs_${reason}'.`,
        "input",
      );
    if (type !== "reasoning") continue;
    const next = items[at + 1];
    if (next?.type !== "function_call" && next?.role !== "assistant")
      return openAIError(
        `Item '${id}' of type 'reasoning' was provided without its required following item.`,
        "input",
      );
    if (!isStored && !encrypted)
      return openAIError(
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        "input",
        null,
        { status: 404 },
      );
    if (encrypted && encrypted !== sign(summary.map(({ text }) => text).join("")))
      return openAIError(
        "The encrypted content could not be verified.",
        null,
        "invalid_encrypted_content",
      );
  }
  return null;
}

/** The items of an answer, each with its text and the name of the events that bring it. */
function itemsIn({ id, reasoning, text, refusal, calls, isCut }: Answer) {
  const key = reasoning ? `${id}r` : id;
  const status = isCut ? "incomplete" : "completed";
  const thought = {
    item: {
      type: "reasoning",
      id: `rs_${key}`,
      summary: [{ type: "summary_text", text: reasoning }],
      encrypted_content: sign(reasoning),
    },
    said: reasoning,
    event: "response.reasoning_summary_text",
  };
  const part =
    refusal === null
      ? { type: "output_text", text, annotations: [] }
      : { type: "refusal", refusal };
  const message = {
    item: { type: "message", id: `msg_${key}`, role: "assistant", status, content: [part] },
    said: refusal ?? text,
    event: refusal === null ? "response.output_text" : "response.refusal",
  };
  const called = calls.map(({ id: call_id, name, args }, at) => ({
    item: { type: "function_call", id: `fc_${key}_${at}`, call_id, name, arguments: args, status },
    said: args,
    event: "response.function_call_arguments",
  }));
  const isSaid = message.said !== "" || calls.length === 0;
  return [...(reasoning ? [thought] : []), ...(isSaid ? [message] : []), ...called];
}

/** @see https://platform.openai.com/docs/api-reference/responses/object */
function responseOf(answer: Answer, output: object[]) {
  const { input, cached, output: written, reasoning } = answer.usage;
  return {
    id: `resp_${answer.id}`,
    object: "response",
    created_at: 0,
    model: answer.model,
    status: answer.isCut ? "incomplete" : "completed",
    error: null,
    incomplete_details: answer.isCut ? { reason: "max_output_tokens" } : null,
    output,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + written,
    },
  };
}

/** The item as a stream announces it, before its text. */
const opened = (item: object): object => ({
  ...item,
  ...("arguments" in item && { arguments: "" }),
  ...("content" in item && { content: [] }),
  ...("summary" in item && { summary: [] }),
});

/** OpenAI's Responses. */
export const openAIResponses: Provider<ResponsesBody> = {
  path: /^\/v1\/responses$/,
  callId: () => `call_${randomId().slice(0, 24)}`,
  read(body) {
    const { instructions = "", tools = [], tool_choice: choice, text = {} } = body;
    const items = itemsOf(body);
    const schemas = tools.map((tool, at) => namedSchema("tool", `tools[${at}].parameters`, tool));
    if (text.format?.schema) schemas.push(namedSchema("format", "text.format.schema", text.format));
    const system = items.filter(({ role }) => role === "system" || role === "developer");
    const messages = items.map((item, at) => ({
      place: `input[${at}]`,
      role: item.role ?? "",
      texts: textsOf(item),
      calls: item.type === "function_call" ? [item.call_id ?? ""] : [],
      results: item.type === "function_call_output" ? [item.call_id ?? ""] : [],
      hasMore: item.role === undefined,
      unknown: unknownField(item, known[item.type ?? "message"] ?? ""),
    }));
    return {
      model: body.model,
      isStreamed: body.stream === true,
      system: [instructions, ...system.flatMap(textsOf)].join("\n"),
      messages,
      // A call and its output may be anywhere.
      turns: [
        { place: "input", calls: messages.flatMap(({ calls }) => calls), results: [] },
        { place: "input", calls: [], results: messages.flatMap(({ results }) => results) },
      ],
      ...schemasOf(schemas, typeof choice === "object" ? choice.name : undefined),
      parts: [...tools, text, instructions, ...items],
    };
  },
  refusalOf: (request, body) =>
    brokenRule(request, refusals, brokenRuleError) ??
    itemsOf(body)
      .map(itemError)
      .find((error) => error) ??
    reasoningError(itemsOf(body), body.store !== false) ??
    brokenSchema(request, strictSchemaRule, strictSchemaError),
  tooLong: () =>
    openAIError(
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "input",
      "context_length_exceeded",
    ),
  failure: openAIFailure,
  whole: (answer) =>
    responseOf(
      answer,
      itemsIn(answer).map(({ item }) => item),
    ),
  // https://platform.openai.com/docs/api-reference/responses-streaming
  *events(answer) {
    const started = { ...responseOf(answer, []), status: "in_progress", usage: null };
    yield namedEvent({ type: "response.created", response: started });
    for (const [output_index, { item, said, event }] of itemsIn(answer).entries()) {
      const place = { output_index, item_id: item.id, content_index: 0, summary_index: 0 };
      yield namedEvent({ type: "response.output_item.added", output_index, item: opened(item) });
      if (item.type === "reasoning")
        yield namedEvent({
          type: "response.reasoning_summary_part.added",
          ...place,
          part: { type: "summary_text", text: "" },
        });
      for (const delta of wordsOf(said))
        yield namedEvent({ type: `${event}.delta`, ...place, delta });
      yield namedEvent({
        type: `${event}.done`,
        ...place,
        text: said,
        refusal: said,
        arguments: said,
      });
      yield namedEvent({ type: "response.output_item.done", output_index, item });
    }
    const response = responseOf(
      answer,
      itemsIn(answer).map(({ item }) => item),
    );
    yield namedEvent({
      type: answer.isCut ? "response.incomplete" : "response.completed",
      response,
    });
  },
};
