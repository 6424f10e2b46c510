import { jsonrepair } from "jsonrepair";
import {
  brokenRule,
  brokenSchema,
  type Refusals,
  schemasOf,
  unknownField,
} from "./conversation-rules.js";
import {
  type Answer,
  dataEvent,
  type NamedSchema,
  type Provider,
  type Refusal,
  randomId,
  sign,
  wordsOf,
} from "./provider.js";
import type { Schema, SchemaRule } from "./schema-rules.js";

interface Part {
  readonly text?: string;
  readonly functionCall?: { id?: string; name: string; args?: object };
  readonly functionResponse?: { id?: string; name: string };
  readonly thoughtSignature?: string;
}

interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

interface Declaration {
  readonly name: string;
  readonly parameters?: Schema;
  readonly parametersJsonSchema?: Schema;
}

export interface GoogleBody {
  readonly contents?: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly { functionDeclarations?: readonly Declaration[] }[];
  readonly toolConfig?: {
    functionCallingConfig?: { mode?: string; allowedFunctionNames?: readonly string[] };
  };
  readonly generationConfig?: { responseSchema?: Schema; responseJsonSchema?: Schema };
}

// https://ai.google.dev/gemini-api/docs/troubleshooting#error-codes
const refused = (message: string, code = 400, status = "INVALID_ARGUMENT"): Refusal => ({
  status: code,
  body: { error: { code, message, status } },
});

const cannotFind =
  "Invalid JSON payload received. Unknown name \"{what}\" at '{place}': Cannot find field.";

// https://ai.google.dev/api/generate-content
const refusals: Refusals = {
  noMessages: "* GenerateContentRequest.contents: contents is not specified\n",
  unknownField: cannotFind,
  noContent: "* GenerateContentRequest.{place}.parts: contents.parts must not be empty.\n",
  emptyText:
    "* GenerateContentRequest.{place}.parts[0].data: required oneof field 'data' must have one initialized field\n",
  noSystemInside: "Please use a valid role: user, model.",
  // https://ai.google.dev/gemini-api/docs/function-calling
  calledFor:
    "Please ensure that function response turn comes immediately after a function call turn.",
  answered:
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
};

function orderError(contents: readonly Content[]): Refusal | null {
  const isOdd = ({ parts = [] }: Content, at: number) =>
    parts.some(({ functionCall }) => functionCall) && contents[at - 1]?.role !== "user";
  if (!contents.some(isOdd)) return null;
  return refused(
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
  );
}

const signatureOf = (name: string, args: object = {}) => sign(name + JSON.stringify(args));

/** The first call of each step since the user's last message must have its signature.
 *  @see https://ai.google.dev/gemini-api/docs/thought-signatures */
function signatureError(contents: readonly Content[]): Refusal | null {
  const turn = contents.findLastIndex(
    ({ role, parts = [] }) => role === "user" && parts.some(({ text }) => text),
  );
  for (const [at, { parts = [] }] of contents.entries()) {
    const { functionCall: call, thoughtSignature } = parts.find((part) => part.functionCall) ?? {};
    if (!call) continue;
    if (thoughtSignature === undefined && at > turn)
      return refused(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call.name}\` , position ${at + 1}.`,
      );
    const known = [
      undefined,
      "skip_thought_signature_validator",
      signatureOf(call.name, call.args),
    ];
    if (!known.includes(thoughtSignature)) return refused("Corrupted thought signature.");
  }
  return null;
}

// https://ai.google.dev/api/caching#Schema
const keywords =
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum";
const schemaRule: SchemaRule = (schema) => unknownField(schema, keywords) ?? null;

function namedSchemas({ tools = [], generationConfig: config = {} }: GoogleBody): NamedSchema[] {
  const declared = tools.flatMap(({ functionDeclarations: all = [] }) => all);
  // Only `parameters` and `responseSchema` are of Google's own form.
  const schemas: NamedSchema[] = declared.map(({ name, parameters, parametersJsonSchema }, at) => ({
    of: "tool",
    name,
    place: `tools[0].function_declarations[${at}].parameters`,
    schema: parameters ?? parametersJsonSchema ?? {},
    isStrict: parameters !== undefined,
  }));
  const { responseSchema, responseJsonSchema } = config;
  const schema = responseSchema ?? responseJsonSchema;
  const place = "generation_config.response_schema";
  if (schema)
    schemas.push({
      of: "format",
      name: null,
      place,
      schema,
      isStrict: responseSchema !== undefined,
    });
  return schemas;
}

const finishReason = ({ refusal, isCut }: Answer): string => {
  if (refusal !== null) return "SAFETY";
  return isCut ? "MAX_TOKENS" : "STOP";
};

function partsOf({ reasoning, text, calls }: Answer, split: (text: string) => string[]): object[] {
  return [
    ...(reasoning ? [{ text: reasoning, thought: true }] : []),
    ...split(text).map((part) => ({ text: part })),
    ...calls.map(({ id, name, args: json }, at) => {
      const args = JSON.parse(jsonrepair(json));
      const functionCall = { id, name, args };
      // Of parallel calls only the first is signed.
      return at === 0
        ? { functionCall, thoughtSignature: signatureOf(name, args) }
        : { functionCall };
    }),
  ];
}

/** @see https://ai.google.dev/api/generate-content#generatecontentresponse */
function responseOf(answer: Answer, parts: object[], isLast: boolean): object {
  const { input, cached, output, reasoning } = answer.usage;
  const content = parts.length > 0 ? { content: { role: "model", parts } } : {};
  return {
    candidates: [{ index: 0, ...content, ...(isLast && { finishReason: finishReason(answer) }) }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: isLast ? output - reasoning : 0,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + output,
    },
    modelVersion: answer.model,
    responseId: answer.id,
  };
}

/** Google's generateContent. */
export const google: Provider<GoogleBody> = {
  path: /^\/v1beta\/models\/[^/:]+:(generateContent|streamGenerateContent\?alt=sse)$/,
  callId: () => randomId().slice(0, 8),
  read(body, path) {
    const { contents = [], systemInstruction, tools = [], toolConfig } = body;
    const { mode, allowedFunctionNames = [] } = toolConfig?.functionCallingConfig ?? {};
    return {
      model: path.replace(/^.*models\/|:.*$/g, ""),
      isStreamed: path.includes(":stream"),
      system: (systemInstruction?.parts ?? []).map(({ text }) => text).join("\n"),
      messages: contents.map((content, at) => {
        const { role = "user", parts = [] } = content;
        const ids = (field: "functionCall" | "functionResponse") =>
          parts.flatMap(({ [field]: of }) => (of ? (of.id ?? of.name) : []));
        return {
          place: `contents[${at}]`,
          role: role === "model" ? "assistant" : role,
          texts: parts.flatMap(({ text }) => text ?? []),
          calls: ids("functionCall"),
          results: ids("functionResponse"),
          hasMore: parts.some(({ text }) => text === undefined),
          unknown: unknownField(content, "role parts"),
        };
      }),
      ...schemasOf(namedSchemas(body), mode === "ANY" ? allowedFunctionNames[0] : undefined),
      // https://ai.google.dev/gemini-api/docs/caching#implicit-caching
      parts: [...tools, ...(systemInstruction ? [systemInstruction] : []), ...contents],
    };
  },
  refusalOf: (request, { contents = [] }) =>
    brokenRule(request, refusals, (message) => refused(message)) ??
    orderError(contents) ??
    signatureError(contents) ??
    brokenSchema(request, schemaRule, ({ place }, what) =>
      refused(cannotFind.replace("{what}", what).replace("{place}", place)),
    ),
  tooLong: (tokens, limit) =>
    refused(
      `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`,
    ),
  // Google says in the body when to try again, and sends no retry-after.
  failure(status, retryAfterSeconds) {
    if (status >= 500) return refused("An internal error has occurred.", status, "INTERNAL");
    if (status !== 429) return refused("Requested entity was not found.", status, "NOT_FOUND");
    const type = "type.googleapis.com/google.rpc.RetryInfo";
    const details = [{ "@type": type, retryDelay: `${retryAfterSeconds}s` }];
    const message = `You exceeded your current quota. Please retry in ${retryAfterSeconds}s.`;
    return {
      status,
      body: { error: { code: status, message, status: "RESOURCE_EXHAUSTED", details } },
    };
  },
  whole: (answer) =>
    responseOf(
      answer,
      partsOf(answer, (text) => (text ? [text] : [])),
      true,
    ),
  *events(answer) {
    const parts = partsOf(answer, wordsOf);
    for (const part of parts) yield dataEvent(responseOf(answer, [part], false));
    yield dataEvent(responseOf(answer, [], true));
  },
};
