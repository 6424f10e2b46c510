import type { MemoryErrorCode } from "mnemograph";
import { MemoryError } from "mnemograph/contract";

export const httpStatuses = {
  INVALID_INPUT: 400,
  SCOPE_REQUIRED: 400,
  CATEGORY_DENIED: 403,
  // Another user's thread looks missing.
  NOT_FOUND: 404,
  THREAD_FORBIDDEN: 404,
  CONFLICT: 409,
  CONSENT_REQUIRED: 409,
  ID_TAKEN: 409,
  WRONG_STATE: 409,
  FORGOTTEN: 410,
  STALE_REVISION: 412,
  DATABASE_ERROR: 500,
  PERMISSION_DENIED: 500,
  REDACTION_FAILED: 500,
  SCHEMA_DIFFERS: 500,
  MODEL_REQUIRED: 501,
  PEER_MISSING: 501,
  EMBEDDING_FAILED: 502,
  MODEL_FAILED: 502,
  MODEL_OUTPUT_INVALID: 502,
  BUSY: 503,
  CLOSED: 503,
  DATABASE_UNAVAILABLE: 503,
  DATA_DIRECTORY_LOCKED: 503,
  SETUP_REQUIRED: 503,
  DATABASE_TIMEOUT: 504,
} as const satisfies Record<MemoryErrorCode, number>;

const httpStatusOf = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  REQUEST_TIMEOUT: 503,
} as const;

/** Codes of errors before a call reaches memory. */
export type HttpProblemCode = keyof typeof httpStatusOf;

export class HttpProblem extends Error {
  readonly code: HttpProblemCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: HttpProblemCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An error as RFC 9457 describes it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: MemoryErrorCode | HttpProblemCode;
  /** The memory or request as it is now, after a conflict. */
  readonly current?: unknown;
}

/** Replaces the error's own message. */
const publicDetails: Partial<Record<Problem["code"], string>> = {
  // Also for another user's thread.
  NOT_FOUND: "There is nothing of that name for you here.",
  SCOPE_REQUIRED:
    "Say whose memory is meant: ?userId=… or ?appId=…, with ?tenantId=… where there are tenants.",
};

const internalDetail = "The server could not do it. Its log says why.";

/** Hides the owners of threads, and internal messages, which may quote memories. */
export function problemOf(error: unknown): { problem: Problem; headers: Record<string, string> } {
  if (error instanceof HttpProblem) {
    const { code, message } = error;
    const challenge = code === "UNAUTHENTICATED" && { "www-authenticate": "Bearer" };
    const headers = { ...challenge, ...retryAfter(error.retryAfterSeconds) };
    return { problem: makeProblem(code, httpStatusOf[code], message), headers };
  }
  if (!MemoryError.is(error) || httpStatuses[error.code] === 500) {
    const code = MemoryError.is(error) ? error.code : "INTERNAL";
    return { problem: makeProblem(code, 500, internalDetail), headers: {} };
  }
  const code = error.code === "THREAD_FORBIDDEN" ? "NOT_FOUND" : error.code;
  const { current, retryInMs = error.code === "BUSY" ? 1_000 : undefined } = error.details;
  const { revision } = (current ?? {}) as { readonly revision?: unknown };
  return {
    problem: {
      ...makeProblem(code, httpStatuses[code], publicDetails[code] ?? error.message),
      ...(current !== undefined && { current }),
    },
    headers: {
      ...(typeof revision === "number" && { etag: etagOf(revision) }),
      ...retryAfter(retryInMs && retryInMs / 1_000),
    },
  };
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(seconds))) };
}

function makeProblem(code: Problem["code"], status: number, detail: string): Problem {
  const words = code.toLowerCase().split("_");
  return {
    type: `urn:mnemograph:problem:${words.join("-")}`,
    title: words.join(" "),
    status,
    detail,
    code,
  };
}

export const etagOf = (revision: number): string => `"${revision}"`;

export function problemResponse(
  error: unknown,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { problem, headers } = problemOf(error);
  return Response.json(problem, {
    status: problem.status,
    headers: {
      ...headers,
      ...more,
      "content-type": "application/problem+json",
      "cache-control": "no-store",
    },
  });
}
