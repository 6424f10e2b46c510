import { MemoryError, type MemoryErrorCode } from "../../errors.js";

/** What is wrong with a request before memory is asked. */
export type HttpProblemCode =
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "TOO_LARGE"
  | "RATE_LIMITED"
  | "REQUEST_TIMEOUT"
  | "INTERNAL";

/** How each error of memory is answered. */
export const statusOf = {
  ...{ INVALID_INPUT: 400, SCOPE_REQUIRED: 400, CATEGORY_DENIED: 403 },
  // A thread of somebody else is not there.
  ...{ NOT_FOUND: 404, THREAD_FORBIDDEN: 404 },
  ...{ CONFLICT: 409, CONSENT_REQUIRED: 409, ID_TAKEN: 409, WRONG_STATE: 409 },
  ...{ FORGOTTEN: 410, STALE_REVISION: 412 },
  ...{ DATABASE_ERROR: 500, DIMENSION_MISMATCH: 500, PERMISSION_DENIED: 500, REDACTION_FAILED: 500 },
  ...{ SCHEMA_DIFFERS: 500, MODEL_REQUIRED: 501, PEER_MISSING: 501 },
  ...{ EMBEDDING_FAILED: 502, MODEL_FAILED: 502, MODEL_OUTPUT_INVALID: 502 },
  ...{ BUSY: 503, CLOSED: 503, DATABASE_UNAVAILABLE: 503, DATA_DIRECTORY_LOCKED: 503, SETUP_REQUIRED: 503 },
  DATABASE_TIMEOUT: 504,
} as const satisfies Record<MemoryErrorCode, number>;

const httpStatusOf = {
  ...{ UNAUTHENTICATED: 401, FORBIDDEN: 403, TOO_LARGE: 413, UNSUPPORTED_MEDIA_TYPE: 415, RATE_LIMITED: 429 },
  ...{ INTERNAL: 500, REQUEST_TIMEOUT: 503 },
} as const satisfies Record<HttpProblemCode, number>;

const titles: Readonly<Record<number, string>> = {
  ...{ 400: "The request is wrong", 401: "Who asks is not known", 403: "Not allowed", 404: "Not found" },
  ...{ 409: "In conflict with what there is", 410: "Gone", 412: "Changed since it was read" },
  ...{ 413: "Too large", 415: "Not a kind of content that is read here", 429: "Too many requests" },
  ...{ 500: "Something failed here", 501: "Not set up here", 502: "A model failed" },
  ...{ 503: "Not available", 504: "Took too long" },
};

/** An error of HTTP itself. */
export class HttpProblem extends Error {
  readonly code: HttpProblemCode;
  /** Seconds after which it may be tried again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: HttpProblemCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A failure as RFC 9457 has it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** A `MemoryErrorCode`, or what is wrong with the request itself. */
  readonly code: MemoryErrorCode | HttpProblemCode;
  /** What the memory or request is instead, where the code speaks of one. */
  readonly current?: unknown;
}

/** What every failure that is not the caller's is told as: what was wrong is for the log. */
const internalDetail = "The server could not do it. Its log says why.";

/**
 * `error` as an answer. What failed here is not told in its own words, which may quote statements or what others
 * remember; whose a thread is, not at all.
 */
export function problemOf(error: unknown): {
  readonly problem: Problem;
  readonly headers: Record<string, string>;
} {
  if (error instanceof HttpProblem) {
    const { code, message, retryAfterSeconds } = error;
    return {
      problem: written(code, httpStatusOf[code], message),
      headers: {
        ...(code === "UNAUTHENTICATED" && { "www-authenticate": "Bearer" }),
        ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      },
    };
  }
  if (!MemoryError.is(error) || statusOf[error.code] === 500) {
    const code = MemoryError.is(error) ? error.code : "INTERNAL";
    return { problem: written(code, 500, internalDetail), headers: {} };
  }
  if (error.code === "THREAD_FORBIDDEN") {
    return { problem: written("NOT_FOUND", 404, "There is no such thread for you here."), headers: {} };
  }
  if (error.code === "SCOPE_REQUIRED") {
    const detail =
      "Say whose memory is meant: ?userId=… or ?appId=…, with ?tenantId=… where there are tenants.";
    return { problem: written("SCOPE_REQUIRED", 400, detail), headers: {} };
  }
  const { current, retryInMs } = error.details;
  const { revision } = (current ?? {}) as { readonly revision?: unknown };
  return {
    problem: {
      ...written(error.code, statusOf[error.code], error.message),
      ...(current !== undefined && { current }),
    },
    headers: {
      ...(typeof revision === "number" && { etag: etagOf(revision) }),
      ...(retryInMs !== undefined && { "retry-after": String(Math.max(1, Math.ceil(retryInMs / 1_000))) }),
      ...(error.code === "BUSY" && { "retry-after": "1" }),
    },
  };
}

function written(code: Problem["code"], status: number, detail: string): Problem {
  const type = `urn:mnemograph:problem:${code.toLowerCase().replaceAll("_", "-")}`;
  return { type, title: titles[status] ?? "Failed", status, detail, code };
}

/** The ETag of what has this revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/** `error` as a response. */
export function problemResponse(error: unknown): Response {
  const { problem, headers } = problemOf(error);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...headers, "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}
