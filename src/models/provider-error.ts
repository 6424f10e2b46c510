import { MemoryError } from "../errors.js";
import { statusesOf } from "../logger.js";
import { jsonReader, propertyOf } from "../text/plain-json.js";

/** A provider that asks for a longer wait is tried again after an hour. */
export const longestDelayMs = 3_600_000;

const shortestDelayMs = 1_000;

/** An error and its causes: clients and `MemoryError` wrap the provider's own. */
function errorsIn(error: unknown): object[] {
  const errors: object[] = [];
  let each = error;
  while (typeof each === "object" && each !== null && errors.length < 4) {
    errors.push(each);
    each = propertyOf(each, "cause");
  }
  return errors;
}

/**
 * How long the provider asks to wait; null if it does not say. OpenAI and Anthropic send a header,
 * Google `RetryInfo` in the body.
 * @see https://google.aip.dev/193 and google.rpc.RetryInfo
 */
export function retryAfterMs(error: unknown): number | null {
  for (const each of errorsIn(error)) {
    const response = Object(propertyOf(each, "response"));
    const said = headerIn(propertyOf(each, "headers") ?? response.headers) ?? retryInfoIn(each);
    const seconds = Number(said ?? Number.NaN);
    const waitMs = Number.isNaN(seconds) ? Date.parse(said ?? "") - Date.now() : seconds * 1_000;
    if (!Number.isNaN(waitMs)) return Math.min(longestDelayMs, Math.max(shortestDelayMs, waitMs));
  }
  return null;
}

function headerIn(headers: unknown): string | null {
  if (typeof headers !== "object" || headers === null) return null;
  const get = propertyOf(headers, "get");
  const value = typeof get === "function" ? get.call(headers, "retry-after") : undefined;
  const header = value ?? propertyOf(headers, "retry-after");
  return typeof header === "string" && header !== "" ? header : null;
}

/** ChatGoogle keeps the body in `data`, the older client its details in `errorDetails`. */
function retryInfoIn(error: object): string | null {
  const details = [propertyOf(error, "data"), propertyOf(error, "errorDetails")];
  const json = JSON.stringify(jsonReader()(details)) ?? "";
  return /"retryDelay":"([\d.]+)s"/.exec(json)?.[1] ?? null;
}

const statusIn = (error: unknown): number | null => {
  const [status] = errorsIn(error).flatMap(statusesOf);
  return status === undefined ? null : Number(status);
};

/** Whether the provider limits calls, is down or does not answer: other calls would fail as well. */
export function isAway(error: unknown): boolean {
  const status = statusIn(error);
  if (status !== null) return status === 408 || status === 429 || status >= 500;
  return MemoryError.is(error, "MODEL_FAILED") || errorsIn(error).some(isOfNetwork);
}

/** Wrong key, no right to the model, or no such model. */
export const isDenied = (error: unknown): boolean => {
  return [401, 403, 404].includes(statusIn(error) ?? 0);
};

function isOfNetwork(error: object): boolean {
  const [code, message] = [propertyOf(error, "code"), propertyOf(error, "message")];
  return (
    /^E[A-Z]{4,}$/.test(String(code)) || /connection error|fetch failed/i.test(String(message))
  );
}
