/** What went wrong, for code to branch on. Messages are for people and may change; codes do not. */
export type MemoryErrorCode =
  /** Others wrote to the same rows each time it was tried. Nothing was written: try again. Of `forget`, what was deleted stays so. */
  | "BUSY"
  /** An agent asked for a category that its allowlist does not name. Ask for another, or add it to the list. */
  | "CATEGORY_DENIED"
  /** Asking by an interrupt needs a checkpointer. Compile the graph with one. */
  | "CHECKPOINTER_REQUIRED"
  /** The memory was closed. Make another with `createMemory`. */
  | "CLOSED"
  /** Somebody has decided the request already, `details.current` says who and how. There is nothing left to decide. */
  | "CONSENT_DECIDED"
  /** Nobody decided the request in time. It has to be proposed again. */
  | "CONSENT_EXPIRED"
  /** A sensitive field changes only with the user's consent. Decide the request, or pass `consent: "given"`. */
  | "CONSENT_REQUIRED"
  /** Another value was proposed since. Decide the request that waits for that one. */
  | "CONSENT_SUPERSEDED"
  /** The database refused a statement; `cause` is its error. */
  | "DATABASE_ERROR"
  /** A statement took longer than it may. Try again, or raise the setting that the message names. */
  | "DATABASE_TIMEOUT"
  /** The database cannot be reached. Nothing was written; try again when it can. */
  | "DATABASE_UNAVAILABLE"
  /** Another process has the embedded database open. Close it there, or use a server. */
  | "DATA_DIRECTORY_LOCKED"
  /** The embeddings give vectors of another length than before. Use the model of before, or give this one another `model` name. */
  | "DIMENSION_MISMATCH"
  /** Another active memory says the same, or tells of the same turns. Change or remove that one instead. */
  | "DUPLICATE_MEMORY"
  /** The embeddings failed; `cause` is their error. Nothing was written: try again. */
  | "EMBEDDING_FAILED"
  /** The thread, its user or the scope was forgotten meanwhile: nothing more was written. Begin anew if that is meant. */
  | "FORGOTTEN"
  /** Others kept writing while a scope was forgotten. Stop them, and run it again. */
  | "FORGET_INCOMPLETE"
  /** An id belongs to somebody else in this database. Use another id, or another schema. */
  | "ID_TAKEN"
  /** An argument, option or setting is wrong or unknown; the message names each. Correct the call. */
  | "INVALID_INPUT"
  /** Words are indexed with another language than `retrieval.language`. Configure that one, or import into another schema. */
  | "LANGUAGE_DIFFERS"
  /** Another worker has taken a piece of background work over. Workers end with it quietly; no call of yours fails so. */
  | "LEASE_LOST"
  /** A migration that ran is not the one of this package. Restore the file, or use another schema. */
  | "MIGRATION_CHANGED"
  /** The model failed; `cause` is its error. */
  | "MODEL_FAILED"
  /** The model's answer could not be used, nor its second one. */
  | "MODEL_OUTPUT_INVALID"
  /** What was asked for needs a model. Pass one to `createMemory`. */
  | "MODEL_REQUIRED"
  /** The model did not answer in time. */
  | "MODEL_TIMEOUT"
  /** There is nothing of that id in the scope. */
  | "NOT_FOUND"
  /** An optional package is not installed; the message names it. */
  | "PEER_MISSING"
  /**
   * The database's role may not do that, or the process may not write in the embedded database's folder; the message says
   * what is lacking. With `isolation: "rls"` also what does not say whose rows it sees.
   */
  | "PERMISSION_DENIED"
  /** `redact` failed, so nothing was stored. */
  | "REDACTION_FAILED"
  /** A newer version of this package set the tables up. Update the package. */
  | "SCHEMA_TOO_NEW"
  /** Whose memories are meant is missing, ambiguous or misspelt. Pass a user's or an app's id. */
  | "SCOPE_REQUIRED"
  /** The tables are missing or out of date. Call `setup`. */
  | "SETUP_REQUIRED"
  /** Another active memory holds the slot. Change that one, or remove it first. */
  | "SLOT_TAKEN"
  /** It has changed since it was read (`ifRevision`). `details.current` is what it is: look again, then decide. */
  | "STALE_REVISION"
  /** A thread has other messages here than in the file. Import it into another schema or database. */
  | "THREAD_DIFFERS"
  /** The thread belongs to another scope. Use another thread id, or the scope it was made in. */
  | "THREAD_FORBIDDEN"
  /** A run or call names no thread. Pass one. */
  | "THREAD_REQUIRED"
  /** The database lacks pgvector. Install it, or do without embeddings. */
  | "VECTOR_MISSING"
  /** The memory or job is not in a state that allows it. Of a memory, `details.current` is what it is. */
  | "WRONG_STATE";

/** What code may want to know beside the code. */
export interface MemoryErrorDetails {
  /** The memory (`MemoryItem`) or request (`ConsentRequest`) as it stands, where the code speaks of one. */
  readonly current?: unknown;
  /** With `DATABASE_UNAVAILABLE`, where nothing was tried since the database did not answer before: when it is again. */
  readonly retryInMs?: number;
}

const brand = Symbol.for("mnemograph.MemoryError");

/**
 * The one error class of this package.
 *
 * Recognise it with `MemoryError.is`, which also works when two copies of the package are installed,
 * where `instanceof` does not.
 */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;
  /** Not shown where errors are printed: it may hold what is remembered. */
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
