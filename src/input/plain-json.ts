import { MemoryError } from "../errors.js";
import { headOf } from "../text/storable-text.js";

const quote = 0x22;
const backslash = 0x5c;

export function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) {
      at = endOfString(text, at);
    } else if (character === 0x5b || character === 0x7b) {
      if (++depth > most) return true;
    } else if (character === 0x5d || character === 0x7d) {
      depth--;
    }
  }
  return false;
}

/**
 * For untrusted text: `JSON.parse` takes seconds for a million levels.
 * @throws MemoryError `INVALID_INPUT`
 */
export function parseJson(text: string, what: string): unknown {
  if (isDeeper(text, 500))
    throw new MemoryError("INVALID_INPUT", `${what} is nested deeper than 500 levels.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MemoryError("INVALID_INPUT", `${what} is no JSON.`, { cause });
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at++;
  }
  return text.length;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** LangChain reads no message that is nested deeper than 50 in all. */
export const maxJsonDepth = 40;
const maxJsonCharacters = 16_000_000;
/**
 * Counted per value, so that an object that refers to the same parts many times takes 100 ms at
 * most.
 */
const valueCharacters = 64;

/**
 * Converts any value to JSON, up to 16,000,000 characters; a note replaces the rest. Never throws,
 * constructs nothing. Maps and sets become arrays, bytes base64, large integers and errors text;
 * values that JSON omits stay undefined.
 * @param bytesPrefix precedes the base64. @default none
 */
export function jsonReader(bytesPrefix = ""): (value: unknown) => Json | undefined {
  let remaining = maxJsonCharacters;
  const around = new Set<object>();

  const readText = (text: string): string => {
    const kept = headOf(text, remaining);
    remaining -= kept.length;
    return kept.length === text.length ? text : `${kept}… [cut off: ${text.length} characters]`;
  };

  const readItems = (list: Iterable<unknown>): Json[] => {
    const items: Json[] = [];
    for (const item of list) {
      if (remaining === 0) return [...items, "[cut off]"];
      items.push(read(item) ?? null);
    }
    return items;
  };

  const readObject = (object: object): JsonObject => {
    const kept: JsonObject = {};
    for (const key of Object.keys(object)) {
      if (remaining === 0) return { ...kept, "…": "[cut off]" };
      const value = read(propertyOf(object, key));
      // Copying "__proto__" key by key would set a prototype; checkpoints omit it too.
      if (value !== undefined && key !== "__proto__") kept[readText(key)] = value;
    }
    return kept;
  };

  const readWithin = (object: object): Json | undefined => {
    const bytes = bytesOf(object);
    if (bytes) return readText(bytesPrefix + bytes.subarray(0, remaining).toString("base64"));
    if (Array.isArray(object) || ArrayBuffer.isView(object)) return readItems(object as unknown[]);
    if (object instanceof Map || object instanceof Set) return readItems(object);
    const { toJSON } = object as { toJSON?: unknown };
    if (typeof toJSON === "function") return read(toJSON.call(object));
    return readObject(
      object instanceof Error ? { name: object.name, message: object.message } : object,
    );
  };

  function read(value: unknown): Json | undefined {
    remaining = Math.max(0, remaining - valueCharacters);
    if (typeof value !== "object" || value === null) return readScalar(value, readText);
    if (around.has(value)) return "[circular]";
    if (around.size >= maxJsonDepth) return "[nested too deeply to be kept]";
    around.add(value);
    try {
      return readWithin(value);
    } catch {
      return "[unreadable]";
    } finally {
      around.delete(value);
    }
  }
  return read;
}

function readScalar(value: unknown, readText: (text: string) => string): Json | undefined {
  if (typeof value === "string") return readText(value);
  // Thousands of decimal digits take seconds.
  if (typeof value === "bigint")
    return readText(BigInt.asIntN(64, value) === value ? `${value}` : `0x${value.toString(16)}`);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "boolean" || value === null ? value : undefined;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const propertyOf = (object: object, key: string) =>
  attempt(() => (object as Record<string, unknown>)[key]);

export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function bytesOf(object: unknown): Buffer | null {
  if (
    object instanceof Uint8Array ||
    object instanceof Uint8ClampedArray ||
    object instanceof DataView
  ) {
    return Buffer.from(object.buffer, object.byteOffset, object.byteLength);
  }
  const whole = object instanceof ArrayBuffer || object instanceof SharedArrayBuffer;
  return whole ? Buffer.from(object) : null;
}

/** Removes undefined properties, which `exactOptionalPropertyTypes` forbids. */
export function defined<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };
}
