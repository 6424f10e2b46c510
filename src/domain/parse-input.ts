import { z } from "zod";
import { longestSpanMs } from "../clock.js";
import { MemoryError } from "../errors.js";
import { isStorable } from "./storable-text.js";

/** Text that PostgreSQL holds as it is. */
export const storableText = z
  .string()
  .refine(isStorable, "has characters that cannot be stored: NUL, or half of a surrogate pair");

/** A time that both ISO 8601 and PostgreSQL write with four digits of a year. */
export const storableDate = z
  .date()
  .min(new Date("0001-01-02T00:00:00Z"), "must be of the years 1 to 9999")
  .max(new Date("9999-12-30T23:59:59.999Z"), "must be of the years 1 to 9999");

/** Rows of one page. */
export const pageRows = z.int().min(1).max(1_000).default(100);

/** A span of time in milliseconds. */
export const spanMs = z.number().min(0).max(longestSpanMs);

/** A number that a column of 4 bytes holds. */
export const smallCount = z.int().min(0).max(2_147_483_647);

/**
 * `input` as `schema` reads it.
 *
 * @param what what it is, for the error: "query", "memory".
 * @throws MemoryError `INVALID_INPUT` that names each wrong field, and for an unknown one those that there are.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const issues = parsed.error.issues.map((issue) =>
    issue.code === "unrecognized_keys" && issue.path.length === 0 && known.length > 0
      ? { ...issue, message: `${issue.message}. Known are: ${known.join(", ")}` }
      : issue,
  );
  throw new MemoryError("INVALID_INPUT", `Invalid ${what}: ${z.prettifyError({ issues })}`);
}
