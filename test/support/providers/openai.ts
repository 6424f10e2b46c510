import type { NamedSchema, Refusal } from "./provider.js";
import type { Schema } from "./schema-rules.js";

// What chat completions and Responses share.

/** A tool has `parameters`, a response format a `schema`. */
export interface OpenAISchema {
  readonly name: string;
  readonly parameters?: Schema;
  readonly schema?: Schema;
  readonly strict?: boolean | null;
}

export const namedSchema = (
  of: NamedSchema["of"],
  place: string,
  { name, parameters = {}, schema = parameters, strict }: OpenAISchema,
): NamedSchema => ({ of, name, place, schema, isStrict: strict === true });

// https://platform.openai.com/docs/guides/error-codes

export const openAIError = (
  message: string,
  param: string | null = null,
  code: string | null = null,
  { status = 400, type = "invalid_request_error", headers = {} } = {},
): Refusal => ({ status, headers, body: { error: { message, type, param, code } } });

export const brokenRuleError = (message: string, place: string, rule: string): Refusal =>
  openAIError(message, place, rule === "unknownField" ? "unknown_parameter" : null);

// https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
export const strictSchemaError = ({ of, name, place }: NamedSchema, fault: string): Refusal =>
  openAIError(
    `Invalid schema for ${of === "tool" ? "function" : "response_format"} '${name}': ${fault}`,
    place,
    of === "tool" ? "invalid_function_parameters" : null,
  );

export function openAIFailure(status: number, retryAfterSeconds: number): Refusal {
  if (status === 429)
    return openAIError(
      `Rate limit reached for requests. Please try again in ${retryAfterSeconds}s.`,
      null,
      "rate_limit_exceeded",
      { status, type: "requests", headers: { "retry-after": String(retryAfterSeconds) } },
    );
  const message = "The server had an error while processing your request. Sorry about that!";
  return status >= 500
    ? openAIError(message, null, null, { status, type: "server_error" })
    : openAIError("The request was not accepted.", null, null, { status });
}
