import { z } from "zod";
import { MemoryError } from "../errors.js";

/**
 * `input` as `schema` reads it.
 *
 * @param what what it is, for the error: "query", "memory".
 * @throws MemoryError `INVALID_INPUT` that names each wrong field.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new MemoryError("INVALID_INPUT", `Invalid ${what}: ${z.prettifyError(parsed.error)}`);
}
