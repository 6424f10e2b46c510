/** Codes for programs to branch on. Codes are stable; messages are for people and may change. */
export type MemoryErrorCode =
  /**
   * Others kept writing to the same rows: try again. Nothing was written, but `forget` keeps its
   * deletions.
   */
  | "BUSY"
  /**
   * An agent asked for a category that its allowlist does not name. Ask for another, or add it to
   * the list.
   */
  | "CATEGORY_DENIED"
  /** The memory was closed. Make another with `createMemory`. */
  | "CLOSED"
  /**
   * Another active memory has the same slot, text or turns: change or remove that one. Or a message
   * of the user has changed or added as many memories as it may: wait for the next one.
   */
  | "CONFLICT"
  /**
   * A sensitive field changes only with the user's consent. Decide the request, or pass `consent:
   * "given"`.
   */
  | "CONSENT_REQUIRED"
  /** The database refused a statement; `cause` is its error. */
  | "DATABASE_ERROR"
  /**
   * A statement took longer than it may. Try again, or raise the setting that the message names.
   */
  | "DATABASE_TIMEOUT"
  /** The database cannot be reached. Nothing was written; try again when it can. */
  | "DATABASE_UNAVAILABLE"
  /** Another process has the embedded database open. Close it there, or use a server. */
  | "DATA_DIRECTORY_LOCKED"
  /** The embeddings failed, with the provider's reason; `cause` is their error. Try again. */
  | "EMBEDDING_FAILED"
  /**
   * The thread, its user or the scope was forgotten meanwhile: nothing more was written. Start a
   * new one if needed.
   */
  | "FORGOTTEN"
  /**
   * The id is already used by another owner or record of this database. Use another id, or another
   * schema.
   */
  | "ID_TAKEN"
  /**
   * An argument, option or setting is wrong, missing or unknown; the message names each. Correct
   * the call.
   */
  | "INVALID_INPUT"
  /** The model failed or did not answer in time; `cause` is its error. */
  | "MODEL_FAILED"
  /** The model refused, or its answer was invalid and so was its second one. */
  | "MODEL_OUTPUT_INVALID"
  /** The call needs a model. Pass one to `createMemory`. */
  | "MODEL_REQUIRED"
  /** The scope has nothing with that id. */
  | "NOT_FOUND"
  /**
   * A package is missing or has a version that does not fit, Node is too old, or the database lacks
   * pgvector; the message says which, and what to install.
   */
  | "PEER_MISSING"
  /**
   * The database role, or the process in the embedded database's folder, lacks a permission that
   * the message names.
   */
  | "PERMISSION_DENIED"
  /** `redact` failed, so nothing was stored. */
  | "REDACTION_FAILED"
  /**
   * The tables are of another version of this package or another language; the message says what to
   * do.
   */
  | "SCHEMA_DIFFERS"
  /** The scope is missing, ambiguous or misspelt. Pass a user's or an app's id. */
  | "SCOPE_REQUIRED"
  /** The tables are missing or out of date. Call `setup`. */
  | "SETUP_REQUIRED"
  /**
   * It has changed since it was read (`ifRevision`, `ifValue`). `details.current` is the new
   * version: check it, then decide.
   */
  | "STALE_REVISION"
  /** The thread belongs to another scope. Use another thread id, or the scope it was made in. */
  | "THREAD_FORBIDDEN"
  /**
   * The state of the memory, request, job or scope forbids the call. `details.current` is the
   * memory or request.
   */
  | "WRONG_STATE";

export interface MemoryErrorDetails {
  /**
   * The memory (`MemoryItem`) or request (`ConsentRequest`) as it is now, if the code is about one.
   */
  readonly current?: unknown;
  /** With `DATABASE_UNAVAILABLE` while the database is paused: the time until the next attempt. */
  readonly retryInMs?: number;
}

const errorBrand = Symbol.for("mnemograph.MemoryError");

/** Check with `MemoryError.is`, which also works across two copies of the package. */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;
  /** Not printed with the error: it may contain memories. */
  declare readonly details: MemoryErrorDetails;

  constructor(
    code: MemoryErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly details?: MemoryErrorDetails } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "MemoryError";
    this.code = code;
    Object.defineProperty(this, "details", { value: options.details ?? {} });
    Object.defineProperty(this, errorBrand, { value: true });
  }

  /** Whether `error` is a `MemoryError`, optionally one with this `code`. */
  static is(error: unknown, code?: MemoryErrorCode): error is MemoryError {
    if (typeof error !== "object" || error === null || !(errorBrand in error)) return false;
    return code === undefined || (error as unknown as MemoryError).code === code;
  }
}

/**
 * The cause of `MODEL_OUTPUT_INVALID`. The output is not in the message: logs must not contain texts
 * of users and models.
 */
export class UnusableOutput extends Error {
  readonly output: string;
  /** Whether the model refused, or a filter stopped it. Asked again, it would again. */
  readonly isRefusal: boolean;

  constructor(output: string, isRefusal = false) {
    super("The model's output cannot be used.");
    this.output = output;
    this.isRefusal = isRefusal;
  }
}

/** The message of any thrown value. It may quote anything. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
