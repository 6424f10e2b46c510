import { raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";

/**
 * `name` as a quoted SQL identifier.
 *
 * @throws MemoryError `INVALID_INPUT` for names PostgreSQL refuses, and for double quotes, which
 *   `PostgresSaver` (whose tables live in the same schema) does not escape.
 */
export function identifier(name: string): Sql {
  if (name.trim() === "" || name.includes('"') || name.includes("\u0000") || Buffer.byteLength(name) > 63) {
    throw new MemoryError(
      "INVALID_INPUT",
      `${JSON.stringify(name)} cannot be a schema name: use 1 to 63 bytes, not blank, no double quotes.`,
    );
  }
  return raw(`"${name}"`);
}
