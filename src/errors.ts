/** What went wrong, for code to branch on. Messages are for people and may change; codes do not. */
export type MemoryErrorCode =
  | "CHECKPOINTER_REQUIRED"
  | "CLOSED"
  | "CONFLICT"
  | "CONSENT_EXPIRED"
  | "CONSENT_REQUIRED"
  | "DATABASE_ERROR"
  | "DATABASE_TIMEOUT"
  | "DATABASE_UNAVAILABLE"
  | "DATA_DIRECTORY_LOCKED"
  | "CATEGORY_DENIED"
  | "DIMENSION_MISMATCH"
  | "EMBEDDING_FAILED"
  | "INVALID_INPUT"
  | "MIGRATION_CHANGED"
  | "MODEL_FAILED"
  | "MODEL_OUTPUT_INVALID"
  | "MODEL_REQUIRED"
  | "MODEL_TIMEOUT"
  | "NOT_FOUND"
  | "PEER_MISSING"
  | "PERMISSION_DENIED"
  | "REDACTION_FAILED"
  | "SCHEMA_TOO_NEW"
  | "SCOPE_REQUIRED"
  | "SETUP_REQUIRED"
  | "THREAD_FORBIDDEN"
  | "THREAD_REQUIRED"
  | "VECTOR_MISSING";

const brand = Symbol.for("mnemograph.MemoryError");

/**
 * The one error class of this package.
 *
 * Recognise it with `MemoryError.is`, which also works when two copies of the package are installed,
 * where `instanceof` does not.
 */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;

  constructor(code: MemoryErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "MemoryError";
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether `error` is a `MemoryError`, optionally one with this `code`. */
  static is(error: unknown, code?: MemoryErrorCode): error is MemoryError {
    if (typeof error !== "object" || error === null || !(brand in error)) return false;
    return code === undefined || (error as unknown as MemoryError).code === code;
  }
}
