import type { QueryResultRow } from "pg";
import { raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";

/** How a statement is run. */
export interface QueryOptions {
  /**
   * Keep its plan on the server. For large statements of the hot path, whose planning takes longer than their
   * work. Each text is kept for as long as its session lives, some megabyte each: a handful may vary with what is
   * configured and who is asked about, none with the values.
   */
  readonly prepare?: boolean;
  /** Longest time it may take, in milliseconds. @default that of the connection */
  readonly timeoutMs?: number;
}

/** Something that runs one statement: a pool, or the client of a transaction. */
export interface Connection {
  /** The quoted schema, to qualify every table with. */
  readonly schema: Sql;
  /** The text search configuration that words are indexed and looked up with. */
  readonly language: string;
  /** The current time as an expression: the database's, or the caller's clock where one was given. */
  now(): Sql;
  /**
   * The rows of one statement.
   *
   * @throws MemoryError `DATABASE_UNAVAILABLE`, `DATABASE_TIMEOUT`, `SETUP_REQUIRED`, `PERMISSION_DENIED` or
   *   `DATABASE_ERROR`, with the driver's error as `cause`.
   */
  query<Row extends QueryResultRow>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
}

/**
 * `name` as a quoted SQL identifier.
 *
 * @throws MemoryError `INVALID_INPUT` for names PostgreSQL refuses, and for quotes, which `PostgresSaver`, whose tables
 *   live in the same schema, does not escape.
 */
export function identifier(name: string): Sql {
  if (name.trim() === "" || /["']/.test(name) || name.includes("\u0000") || Buffer.byteLength(name) > 63) {
    throw new MemoryError(
      "INVALID_INPUT",
      `${JSON.stringify(name)} cannot be a schema name: use 1 to 63 bytes, not blank, no quotes.`,
    );
  }
  return raw(`"${name}"`);
}
