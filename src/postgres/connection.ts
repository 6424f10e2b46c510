import type { QueryResultRow } from "pg";
import { raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";

export interface QueryOptions {
  /** Keeps its plan on the server, a megabyte for a session's lifetime: for few large, frequent texts. */
  readonly prepare?: boolean;
  /** In milliseconds. @default that of the connection */
  readonly timeoutMs?: number;
}

/** Runs statements: a pool, or the client of a transaction. */
export interface Connection {
  /** The quoted schema of all tables. */
  readonly schema: Sql;
  /** The text search configuration of the index. */
  readonly language: string;
  /** The current time as an expression: the database's, or the caller's clock. */
  now(): Sql;
  /** @throws MemoryError `DATABASE_*`, `SETUP_REQUIRED`, `PERMISSION_DENIED`; `cause`: the driver's error */
  query<Row extends QueryResultRow>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
}

/** `name` as a quoted SQL identifier. @throws MemoryError `INVALID_INPUT` */
export function identifier(name: string): Sql {
  // Also for quotes, which `PostgresSaver`, whose tables are in the same schema, does not escape.
  if (name.trim() === "" || /["']/.test(name) || name.includes("\u0000") || Buffer.byteLength(name) > 63) {
    throw new MemoryError(
      "INVALID_INPUT",
      `${JSON.stringify(name)} cannot be a schema name: use 1 to 63 bytes, not blank, no quotes.`,
    );
  }
  return raw(`"${name}"`);
}
