import type { QueryResultRow } from "pg";
import type { Sql } from "sql-template-tag";

/** How a statement is run. */
export interface QueryOptions {
  /**
   * Keep its plan on the server. For large statements of the hot path, whose planning takes longer than their
   * work; their text must not vary with the values.
   */
  readonly prepare?: boolean;
}

/** Something that runs one statement: a pool, or the client of a transaction. */
export interface Connection {
  /** The quoted schema, to qualify every table with. */
  readonly schema: Sql;
  /** The current time as an expression: the database's, or the caller's clock where one was given. */
  now(): Sql;
  /**
   * The rows of one statement.
   *
   * @throws MemoryError `DATABASE_UNAVAILABLE`, `SETUP_REQUIRED`, `PERMISSION_DENIED` or `DATABASE_ERROR`,
   *   with the driver's error as `cause`.
   */
  query<Row extends QueryResultRow>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
}
