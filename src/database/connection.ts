import type { QueryResultRow } from "pg";
import type { Sql } from "sql-template-tag";

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
  query<Row extends QueryResultRow>(statement: Sql): Promise<Row[]>;
}
