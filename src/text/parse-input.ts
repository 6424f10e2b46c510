import { z } from "zod";
import { longestSpanMs, longestTimerMs } from "../clock.js";
import { MemoryError } from "../errors.js";
import { isStorable } from "./storable-text.js";

/**
 * The one of `known` that `name` was probably meant to be: the same but for case and separators, or a few slips away, or
 * one that begins with it; null when none is near.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  const typed = bare(name);
  if (typed === "" || typed.length > mostCharacters) return null;
  const near = known
    .map((other) => ({ other, slips: slipsBetween(typed, bare(other)) }))
    .filter(({ other, slips }) => slips <= mostSlips(typed, bare(other)))
    .sort((one, two) => one.slips - two.slips);
  return near[0]?.other ?? known.find((other) => isHalf(typed, bare(other))) ?? null;
}

/** No name is longer, and comparing takes the square of it. */
const mostCharacters = 60;

/** `user_id`, `userId` and `User-ID` are one name to who types. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** A slip in three letters, so that short names are not taken for each other. */
function mostSlips(typed: string, other: string): number {
  return Math.floor(Math.max(typed.length, other.length) / 3);
}

/** "filter" of "filters", "max" of "maxAttempts": one begins with all of the other. */
function isHalf(typed: string, other: string): boolean {
  const [short, long] = typed.length < other.length ? [typed, other] : [other, typed];
  return short.length >= 3 && long.startsWith(short);
}

/** Letters dropped, added, changed, or two next to each other swapped. */
function slipsBetween(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (last[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = swapped ? (before[j - 2] as number) + 1 : change;
      row.push(Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, change, swap));
    }
    [before, last] = [last, row];
  }
  return last[other.length] as number;
}

/** Text that PostgreSQL holds as it is. */
export const storableText = z
  .string()
  .refine(isStorable, "has characters that cannot be stored: NUL, or half of a surrogate pair");

/** Text with more than white space in it. */
export const nonBlank = z.string().refine((text) => text.trim() !== "", "must not be blank");

/** A time that both ISO 8601 and PostgreSQL write with four digits of a year. */
export const storableDate = z
  .date()
  .min(new Date("0001-01-02T00:00:00Z"), "must be of the years 1 to 9999")
  .max(new Date("9999-12-30T23:59:59.999Z"), "must be of the years 1 to 9999");

/** A time as text in ISO 8601, of a date or with a time of day, that is one `storableDate` allows. */
const isoMoment = z
  .union([z.iso.datetime({ offset: true, local: true }), z.iso.date()])
  .refine((text) => storableDate.safeParse(new Date(text)).success);

/** A time as either. */
export const dateOrMoment = z.union([storableDate, isoMoment], "must be a Date, or a text in ISO 8601");

/** Rows of one page. */
export const pageRows = z.int().min(1).max(1_000).default(100);

/** A span of time in milliseconds. */
export const spanMs = z.number().min(0).max(longestSpanMs);

/** A number that a column of 4 bytes holds. */
export const smallCount = z.int().min(0).max(2_147_483_647);

/** The revision that a memory or request is expected to have: `MemoryItem.revision`. */
export const revisionNumber = z.int().min(1);

/** A function that is called with news. */
export const listener = <Listener>() =>
  z.custom<Listener>((value) => typeof value === "function", "must be a function");

/** What stops long work between two steps. */
export const abortSignal = z.custom<AbortSignal>(
  (value) => typeof value === "object" && value !== null && "throwIfAborted" in value && "aborted" in value,
  "must be an AbortSignal",
);

/**
 * Says of keys that a schema does not know which ones were probably meant, and of what is no object which keys it may have:
 * pass it as `error` to `safeParse`.
 *
 * Every schema of the package is strict: what is misspelt would otherwise be left out, and a filter that is left out
 * widens what it was meant to narrow.
 */
export const namesKeys: z.core.$ZodErrorMap = (issue) => {
  const { shape = {} } = (issue.inst as z.ZodObject | undefined)?._zod.def ?? {};
  const known = Object.keys(shape);
  if (issue.code === "invalid_type" && issue.expected === "object" && known.length > 0) {
    return `must be an object, with keys of these: ${known.join(", ")}`;
  }
  if (issue.code !== "unrecognized_keys") return undefined;
  return issue.keys.map((key) => unknownName("key", key, known)).join("; ");
};

/** That `name` is none of `known`, with the one that is nearest, or all where none is near. */
function unknownName(what: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint = nearest === null ? `known: ${known.join(", ") || "none"}` : `did you mean "${nearest}"?`;
  return `unknown ${what} "${name}" (${hint})`;
}

/**
 * `input` as `schema` reads it.
 *
 * @param what what it is, for the error: "query", "memory".
 * @throws MemoryError `INVALID_INPUT` that names each wrong field, and each unknown one with what was probably meant.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: namesKeys });
  if (parsed.success) return parsed.data;
  throw new MemoryError("INVALID_INPUT", `Invalid ${what}: ${z.prettifyError(parsed.error)}`);
}

/** A setting that says how long something waits. */
export const timerOption = z.int().max(longestTimerMs);

/** A setting that says how long ago or ahead a time is. */
export const spanOption = z.int().max(longestSpanMs);
