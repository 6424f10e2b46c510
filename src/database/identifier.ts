import { raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";

/**
 * `name` as a quoted SQL identifier.
 *
 * @throws MemoryError `INVALID_INPUT` for names PostgreSQL refuses, and for quotes, which `PostgresSaver` and
 *   node-pg-migrate (whose tables live in the same schema) do not escape.
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
