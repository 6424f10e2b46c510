import { raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";

export interface QueryOptions {
  /**
   * Keeps the plan on the server for the session, about 1 MB: only for few large, frequent
   * statements.
   */
  readonly prepare?: boolean;
  /** In milliseconds. @default that of the connection */
  readonly timeoutMs?: number | undefined;
}

export interface Connection {
  readonly schema: Sql;
  readonly language: string;
  /** The current time as an expression: the database's, or the caller's clock. */
  now(): Sql;
  /**
   * @throws MemoryError `DATABASE_*`, `SETUP_REQUIRED`, `PERMISSION_DENIED`; `cause`: the driver's
   * error
   */
  query<Row extends object>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
}

export function identifier(name: string): Sql {
  // PostgresSaver uses the same schema and does not escape quotes.
  if (
    name.trim() === "" ||
    /["']/.test(name) ||
    name.includes("\u0000") ||
    Buffer.byteLength(name) > 63
  ) {
    throw new MemoryError(
      "INVALID_INPUT",
      `${JSON.stringify(name)} cannot be a schema name: use 1 to 63 bytes, not blank, no quotes.`,
    );
  }
  return raw(`"${name}"`);
}
