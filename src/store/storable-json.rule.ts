import { MemoryError } from "../errors.js";
import { isDeeper, type Json } from "../input/plain-json.js";
import { storableEscapes } from "../text/storable-text.js";

/** Longest value, in characters of JSON. Files of agents have some hundred thousand. */
const maxItemCharacters = 16_000_000;

/** Deeper nesting exceeds the stack of servers. */
const maxItemDepth = 500;

/**
 * Copies a value as `JSON.stringify` would.
 * @throws MemoryError `INVALID_INPUT` if it cannot be stored
 */
export function storableJson(value: unknown, what: string): Json {
  const text = jsonText(value, what);
  if (text.length > maxItemCharacters)
    throw invalidValue(what, `it is longer than ${maxItemCharacters} characters.`);
  if (isDeeper(text, maxItemDepth))
    throw invalidValue(what, `it is nested deeper than ${maxItemDepth} levels.`);
  if (storableEscapes(text) !== text)
    throw invalidValue(
      what,
      "it has characters that PostgreSQL cannot hold: NUL, or half of a surrogate pair.",
    );
  return JSON.parse(text) as Json;
}

function jsonText(value: unknown, what: string): string {
  if (typeof value === "number" && !Number.isFinite(value))
    throw invalidValue(what, `${value} is no number in JSON.`);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw invalidValue(
      what,
      "it cannot be written as JSON: it refers to itself, or holds a BigInt.",
      cause,
    );
  }
  if (text === undefined) throw invalidValue(what, "it has no value.");
  return text;
}

function invalidValue(what: string, problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Invalid ${what}: ${problem}`, { cause });
}
