import { MemoryError } from "../errors.js";

/** A provider that asks for a longer wait is called again after an hour. */
const mostSeconds = 3_600;

/** Fields of the errors of `@langchain/openai`, `@langchain/anthropic` and `@langchain/google`. */
interface ClientError {
  readonly status?: number;
  readonly statusCode?: number;
  readonly headers?: { readonly "retry-after"?: string; get?(name: string): string | null };
  readonly data?: unknown;
  /** Of a prompt that is too long. */
  readonly cause?: { readonly status?: number };
}

const clientError = (error: unknown): ClientError =>
  Object(MemoryError.is(error) ? error.cause : error);

/** Undefined for timeouts, lost connections and clients that do not say. */
export function statusOf(error: unknown): number | undefined {
  const { status, statusCode, cause } = clientError(error);
  return status ?? statusCode ?? cause?.status;
}

/** Of clients without structured output or with a parser, of servers whose models lack tools. */
const inability =
  /tool|function|schema|structured|response_?format|syntax|pars|temperature|max_?(?:completion_)?tokens/i;

/** Whether a question in another form may be answered: by the status, else by the words. */
export function isInability(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return [400, 404, 422, 501].includes(status);
  return inability.test(String(MemoryError.is(error) ? error.cause : error));
}

/**
 * How long the provider asks to wait; null if it does not say. OpenAI and Anthropic send a header,
 * Google `RetryInfo` in the body.
 * @see https://google.aip.dev/193
 */
export function retryAfterMs(error: unknown): number | null {
  const { headers, data } = clientError(error);
  const header = headers?.get?.("retry-after") ?? headers?.["retry-after"];
  const [, info] = /"retryDelay":"([\d.]+)s"/.exec(JSON.stringify(data) ?? "") ?? [];
  const seconds = Number(header ?? info);
  return seconds >= 0 ? Math.min(mostSeconds, Math.max(1, seconds)) * 1_000 : null;
}
