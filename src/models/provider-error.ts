import { MemoryError } from "../errors.js";

/** A provider that asks for a longer wait is called again after an hour. */
const maxSeconds = 3_600;

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

/** Statuses that refuse the request's form, for which another may be taken, or its texts. */
const refusing = { form: [400, 404, 422, 501], texts: [400, 413, 422] };

/** Whether the provider refuses the request itself; null if the client does not say. */
export function isRefused(error: unknown, as: keyof typeof refusing): boolean | null {
  const status = statusOf(error);
  return status === undefined ? null : refusing[as].includes(status);
}

const errorWords = (error: unknown): string =>
  String(MemoryError.is(error) ? error.cause : error).slice(0, 500);

/** Of clients without structured output or with a parser, of servers whose models lack tools. */
const ofForm = /tool|function|schema|structured|response_?format|syntax|pars/i;

/** Whether the same question may be answered in another form. A prompt may be too long for any. */
export const refusesForm = (error: unknown): boolean =>
  isRefused(error, "form") !== false && ofForm.test(errorWords(error));

const ofLimits = /temperature|max_?(?:completion_)?tokens/i;

/** Whether the same question may be answered without limits. */
export const refusesLimits = (error: unknown): boolean =>
  isRefused(error, "form") ?? ofLimits.test(errorWords(error));

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
  return seconds >= 0 ? Math.min(maxSeconds, Math.max(1, seconds)) * 1_000 : null;
}
