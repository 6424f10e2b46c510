import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import leven from "leven";
import { z } from "zod";
import { maxSpanMs, maxTimerMs } from "../clock.js";
import { MemoryError, messageOf } from "../errors.js";
import { isStorable } from "../text/storable-text.js";

/** Names those of `known` that may be meant by `name`; null if none is similar. */
export function suggestion(name: string, known: readonly string[]): string | null {
  const similar = similarNames(name, known).map((other) => `"${other}"`);
  return similar.length === 0 ? null : `did you mean ${alternatives.format(similar)}?`;
}

const alternatives = new Intl.ListFormat("en", { type: "disjunction" });

function similarNames(name: string, known: readonly string[]): string[] {
  const typed = normalised(name);
  if (typed === "" || typed.length > maxShownCharacters) return [];
  const near = known
    .map((other) => {
      const name = normalised(other);
      return { other, name, edits: leven(typed, name) };
    })
    // One typo in three letters, so that short names are not taken for each other; or letters in
    // another order.
    .filter(
      ({ name, edits }) =>
        edits <= Math.max(typed.length, name.length) / 3 || sorted(typed) === sorted(name),
    )
    .sort((one, two) => one.edits - two.edits);
  const nearest = near.slice(0, 1).map(({ other }) => other);
  if (near[0]?.edits === 0) return nearest;
  // The nearest would be the shortest: of `memories` the one that adds, not the one that lists.
  const containing = known.filter((other) => isPart(typed, normalised(other)));
  if (containing.length > 0) return containing;
  if (nearest.length > 0) return nearest;
  return known.filter((other) => typed.startsWith(normalised(other)) && other.length > 2);
}

const maxShownCharacters = 60;
/** Problems, and unknown keys of one, that an error names: 4 MB of input may have a million. */
const maxProblems = 10;

const normalised = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

const sorted = (name: string): string => [...name].sort().join("");

const isPart = (typed: string, other: string) => typed.length > 2 && other.includes(typed);

export const storableText = z
  .string()
  .refine(isStorable, "has characters that cannot be stored: NUL, or half of a surrogate pair");

export const nameText = storableText.max(1_000);

export const nonBlank = z.string().refine((text) => text.trim() !== "", "must not be blank");

export const storableDate = z
  .date()
  .min(new Date("0001-01-02T00:00:00Z"), "must be of the years 1 to 9999")
  .max(new Date("9999-12-30T23:59:59.999Z"), "must be of the years 1 to 9999");

const isoMoment = z
  .union([z.iso.datetime({ offset: true, local: true }), z.iso.date()])
  .refine((text) => storableDate.safeParse(new Date(text)).success);

export const dateOrMoment = z.union(
  [storableDate, isoMoment],
  "must be a Date, or a text in ISO 8601",
);

export const pageRowsField = z.int().min(1).max(1_000).default(100);

export const spanMs = z.number().min(0).max(maxSpanMs);

export const smallCount = z.int().min(0).max(2_147_483_647);

/** Limits a filter: each condition runs on each row. */
export const maxConditions = 100;

export const revisionNumber = z.int().min(1);

export const callback = <Callback>() =>
  z.custom<Callback>((value) => typeof value === "function", "must be a function");

/** A name, since declarations would spell out types of packages that are none of our peers. */
export interface AnyChatModel extends BaseChatModel {}

export const chatModel = z.custom<AnyChatModel>(
  (value) => typeof (value as BaseChatModel | null)?.invoke === "function",
  'must be a chat model of LangChain, such as `await initChatModel("openai:gpt-4.1-mini")`',
);

export const abortSignal = z.custom<AbortSignal>(
  (value) =>
    typeof value === "object" && value !== null && "throwIfAborted" in value && "aborted" in value,
  "must be an AbortSignal",
);

/** Explains wrong input. Options are strict: an ignored misspelt filter would select more. */
export const explainIssue: z.core.$ZodErrorMap = (issue) => {
  const { shape = {}, element } = (issue.inst?._zod.def ?? {}) as {
    shape?: object;
    element?: unknown;
  };
  const known = Object.keys(shape);
  if (issue.code === "invalid_type" && issue.expected === "array" && element instanceof z.ZodEnum) {
    return `must be a list of these: ${element.options.map((name) => JSON.stringify(name)).join(", ")}`;
  }
  if (issue.code === "invalid_type" && issue.expected === "object" && known.length > 0) {
    return `must be an object, with keys of these: ${known.join(", ")}`;
  }
  if (issue.code === "too_big" || issue.code === "too_small") {
    const standard = z.config().localeError?.(issue);
    const { length = issue.input } = issue.input as { readonly length?: unknown };
    return `${typeof standard === "string" ? standard : standard?.message}, not ${length}`;
  }
  if (issue.code !== "unrecognized_keys") return undefined;
  const unknown = issue.keys.slice(0, maxProblems).map((key) => {
    const hint = suggestion(key, known) ?? `known: ${known.join(", ") || "none"}`;
    return `unknown key "${key}" (${hint})`;
  });
  return unknown.join("; ");
};

/**
 * @param what names `input` in errors
 * @throws MemoryError `INVALID_INPUT`; a field's own error, if nothing else is wrong
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.output<Schema> {
  let found = 0;
  const explain: typeof explainIssue = (issue) =>
    found++ < maxProblems ? explainIssue(issue) : undefined;
  const parsed = readWith(schema, input, what, explain);
  if (parsed.success) return parsed.data;
  const own = parsed.error.issues.map((issue) => issue.code === "custom" && issue.params?.error);
  if (own.every((error) => MemoryError.is(error))) throw own[0];
  const problems = new z.ZodError(parsed.error.issues.slice(0, maxProblems));
  throw new MemoryError("INVALID_INPUT", `Invalid ${what}: ${z.prettifyError(problems)}`);
}

/** Getters, proxies and lists that cannot be frozen throw while they are read. */
function readWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
  error: z.core.$ZodErrorMap,
) {
  try {
    return schema.safeParse(input, { error });
  } catch (cause) {
    const problem = `Invalid ${what}: a value in it cannot be read: ${messageOf(cause)}`;
    throw new MemoryError("INVALID_INPUT", problem, { cause });
  }
}

export const timerOption = z.int().max(maxTimerMs);

export const spanOption = z.int().max(maxSpanMs);
