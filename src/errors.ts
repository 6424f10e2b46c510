/** What went wrong, for code to branch on. Messages are for people and may change; codes do not. */
export type MemoryErrorCode =
  /** Others wrote to the same rows at each try: try again. Nothing was written; what `forget` deleted is gone. */
  | "BUSY"
  /** An agent asked for a category that its allowlist does not name. Ask for another, or add it to the list. */
  | "CATEGORY_DENIED"
  /** The memory was closed. Make another with `createMemory`. */
  | "CLOSED"
  /** Another active memory holds the slot, says the same or is of the same turns. Change or remove that one. */
  | "CONFLICT"
  /** A sensitive field changes only with the user's consent. Decide the request, or pass `consent: "given"`. */
  | "CONSENT_REQUIRED"
  /** The database refused a statement; `cause` is its error. */
  | "DATABASE_ERROR"
  /** A statement took longer than it may. Try again, or raise the setting that the message names. */
  | "DATABASE_TIMEOUT"
  /** The database cannot be reached. Nothing was written; try again when it can. */
  | "DATABASE_UNAVAILABLE"
  /** Another process has the embedded database open. Close it there, or use a server. */
  | "DATA_DIRECTORY_LOCKED"
  /** The embeddings' vectors have a new length. Use the earlier model, or give this one another `model` name. */
  | "DIMENSION_MISMATCH"
  /** The embeddings failed; `cause` is their error. Nothing was written: try again. */
  | "EMBEDDING_FAILED"
  /** The thread, its user or the scope was forgotten meanwhile: nothing more was written. Begin anew if that is meant. */
  | "FORGOTTEN"
  /** An id belongs to somebody else or to something else in this database. Use another id, or another schema. */
  | "ID_TAKEN"
  /** An argument, option or setting is wrong, missing or unknown; the message names each. Correct the call. */
  | "INVALID_INPUT"
  /** The model failed or did not answer in time; `cause` is its error. */
  | "MODEL_FAILED"
  /** The model's answer could not be used, nor its second one. */
  | "MODEL_OUTPUT_INVALID"
  /** What was asked for needs a model. Pass one to `createMemory`. */
  | "MODEL_REQUIRED"
  /** There is nothing of that id in the scope. */
  | "NOT_FOUND"
  /** An optional package is not installed, or the database lacks pgvector; the message says which. */
  | "PEER_MISSING"
  /** The role, or the process in the embedded database's folder, may not do that; the message says what is lacking. */
  | "PERMISSION_DENIED"
  /** `redact` failed, so nothing was stored. */
  | "REDACTION_FAILED"
  /** The tables are of another version of this package or another language; the message says what to do. */
  | "SCHEMA_DIFFERS"
  /** Whose memories are meant is missing, ambiguous or misspelt. Pass a user's or an app's id. */
  | "SCOPE_REQUIRED"
  /** The tables are missing or out of date. Call `setup`. */
  | "SETUP_REQUIRED"
  /** It has changed since it was read (`ifRevision`). `details.current` has it now: look again, then decide. */
  | "STALE_REVISION"
  /** The thread belongs to another scope. Use another thread id, or the scope it was made in. */
  | "THREAD_FORBIDDEN"
  /** The memory, request, job or scope is not in a state that allows it. `details.current` has it, if there is one. */
  | "WRONG_STATE";

export interface MemoryErrorDetails {
  /** The memory (`MemoryItem`) or request (`ConsentRequest`) as it is now, where the code is about one. */
  readonly current?: unknown;
  /** With `DATABASE_UNAVAILABLE`, when nothing was tried because the database is paused: when the next try is. */
  readonly retryInMs?: number;
}

const brand = Symbol.for("mnemograph.MemoryError");

/** Recognise it with `MemoryError.is`, which also works across two copies of the package. */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;
  /** Not printed with the error: it may hold what is remembered. */
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
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether `error` is a `MemoryError`, optionally one with this `code`. */
  static is(error: unknown, code?: MemoryErrorCode): error is MemoryError {
    if (typeof error !== "object" || error === null || !(brand in error)) return false;
    return code === undefined || (error as unknown as MemoryError).code === code;
  }
}

/** What `error`, of whatever kind, says. It may quote anything. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
