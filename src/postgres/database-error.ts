import { MemoryError, type MemoryErrorCode } from "../errors.js";

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** pg's errors without a code: during a statement, before the next one, and at opening. */
const lostConnection =
  /Connection terminated|connection error and is not queryable|timeout exceeded when trying to connect|Query read timeout/i;

export function errorCodeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  // Node puts the failures of IPv4 and IPv6 into one AggregateError.
  if ("errors" in error && Array.isArray(error.errors)) return errorCodeOf(error.errors[0]);
  return "";
}

export function brokenConstraint(error: unknown): string | undefined {
  const cause =
    error instanceof Error
      ? (error.cause as { constraint?: string; message?: string } | undefined)
      : undefined;
  // Citus passes on the message of another server without its fields, and numbers a shard's names.
  const named = cause?.constraint ?? /constraint "([^"]+)"/.exec(cause?.message ?? "")?.[1];
  return named?.replace(/_\d+$/, "");
}

export function isConnectionError(error: unknown): boolean {
  const code = errorCodeOf(error);
  // A protocol violation that keeps the session open is the statement's fault; poolers end the
  // session (FATAL).
  if (code === "08P01" && (error as { severity?: unknown }).severity !== "FATAL") return false;
  // Where a server stops, its Unix socket is gone: "connect ENOENT".
  if (Object(error).syscall === "connect") return true;
  // 08: connection exception; 57P01..57P03: the server stops or starts; 57P05, 25P03: it ended an
  // idle session; 53300: too many connections.
  if (networkCodes.has(code) || code.startsWith("08") || /^(?:57P0[1235]|25P03|53300)$/.test(code))
    return true;
  const message = error instanceof Error ? error.message : "";
  return code === "" && lostConnection.test(message);
}

/** Also of a session that a failover left on a server without writes: another one may take them. */
export const isLostSession = (error: unknown): boolean =>
  isConnectionError(error) || errorCodeOf(error) === "25006";

/** A statement's, a lock's and a transaction's timeout. */
const timeoutCodes = /^(?:57014|55P03|25P04)$/;

const hasMessage = (error: unknown, message: string) =>
  error instanceof Error && error.message === message;
export const isPoolBusy = (error: unknown) =>
  hasMessage(error, "timeout exceeded when trying to connect");
export const isReadTimeout = (error: unknown) => hasMessage(error, "Query read timeout");
/** In pg's words. */
export const readTimeout = () => new Error("Query read timeout");

export function isTimeout(error: unknown): boolean {
  if (isPoolBusy(error) || isReadTimeout(error)) return true;
  return error instanceof Error && error.message.includes("due to connection timeout");
}

/** SQLSTATEs whose messages quote names of tables, roles and settings; others may quote data. */
const quotesNames =
  /^(08|23|25006|25P04|28|3D|3F|53|54|55|57|42P01|42P07|42501|42703|42704|42883|MN)/;

export function databaseWords(error: unknown): string {
  const code = errorCodeOf(error);
  const message = error instanceof Error ? error.message : "";
  if (message === "") return code;
  if (quotesNames.test(code) || networkCodes.has(code)) return message;
  const unquoted = message.slice(0, 200).replace(/[\s:(]{0,9}["'`«‹„“‘‚「][\s\S]*$/, "");
  return code === "" ? unquoted : `${unquoted} (${code})`;
}

export const lostCommit = (cause: unknown): MemoryError =>
  new MemoryError(
    "DATABASE_UNAVAILABLE",
    `The connection was lost while a transaction was committed (${databaseWords(cause)}): what it wrote may be there or ` +
      "not. Read it before you write it again.",
    { cause },
  );

export function toMemoryError(error: unknown, schema: string): MemoryError {
  if (MemoryError.is(error)) return error;
  const as = (code: MemoryErrorCode) => (message: string) =>
    new MemoryError(code, message, { cause: error });
  const unavailable = as("DATABASE_UNAVAILABLE");
  const denied = as("PERMISSION_DENIED");
  const detail = databaseWords(error);
  const sqlState = errorCodeOf(error);
  if (sqlState === "53300") {
    return unavailable(
      `The database takes no more connections (${detail}). Give its pools fewer, or the server more of them.`,
    );
  }
  if (isPoolBusy(error)) {
    return unavailable(
      `The pool had no free client in time (${detail}). Release those that are checked out, or give it more: ` +
        "pass `database` a pg.Pool with a higher `max`.",
    );
  }
  if (isReadTimeout(error) || timeoutCodes.test(sqlState)) {
    return as("DATABASE_TIMEOUT")(
      `The database took too long, and the statement was stopped (${detail}). Look in pg_stat_activity for who holds ` +
        "locks and what else runs, or raise database.statementTimeoutMs in the config; a timeout of the role, the " +
        "database or the connection string comes before it.",
    );
  }
  if (/CERT|LEAF_SIGNATURE/.test(sqlState) || detail.includes("not support SSL")) {
    return unavailable(
      `There is no encrypted connection to the database: ${detail}. In the connection string, sslrootcert=FILE names the ` +
        "certificate of the server's authority, and sslmode=disable asks for no encryption.",
    );
  }
  if (isConnectionError(error)) {
    return unavailable(
      `The database does not answer (${detail}). Check that it runs and that the connection string is right.`,
    );
  }
  switch (sqlState) {
    case "42P01":
    case "3F000":
    case "42703":
      return as("SETUP_REQUIRED")(
        `The tables of schema "${schema}" are missing or out of date (${detail}). ` +
          `Run \`await memory.setup()\` or \`npx @mnemograph/server migrate${/embedding/.test(detail) ? " --vectors" : ""}\` once.`,
      );
    case "25006":
      return denied(
        `This database is read-only (${detail}): it is a replica, or the role is set so. Connect to the primary.`,
      );
    case "42501":
      return denied(
        `The database user lacks a permission: ${detail}. It needs USAGE on schema "${schema}", and SELECT, INSERT, UPDATE ` +
          "and DELETE on all its tables; for setup CREATE on the database, or an existing schema of its own.",
      );
    case "58P01":
      // Any other missing file means that the database is broken.
      if ((error as Error).message.includes("vector")) return as("PEER_MISSING")(lacksPgvector);
      break;
    case "MN001":
      return denied(
        `Schema "${schema}" isolates tenants: create the memory with isolation: "rls".`,
      );
    case "MN002":
      return denied(
        "Only the role that owns the tables may work across tenants: give a scope, or connect as that role.",
      );
    case "26000":
    case "42P05":
      return as("DATABASE_ERROR")(
        `A pooler between here and the database loses prepared statements (${detail}): set database.prepare: false ` +
          "in the config.",
      );
    case "28P01":
    case "28000":
    case "3D000":
      return unavailable(
        `The database refused the login: ${detail}. Check user, password and database name.`,
      );
  }
  return as("DATABASE_ERROR")(`The database reported: ${detail}`);
}

/** npm installs the extension 0.0.15 with this version of the engine alone. */
export const engineVersion = "0.5.14";
export const installEngine = "npm install @electric-sql/pglite@0.5.14";
export const installVectorsCommand = `${installEngine} @electric-sql/pglite-pgvector@0.0.15`;

export const lacksPgvector =
  `Embeddings need pgvector 0.7 or later, which is not installed or does not load: run \`${installVectorsCommand}\` for the embedded database, ` +
  "install it on a server (https://github.com/pgvector/pgvector), or create the memory without `embeddings`.";
