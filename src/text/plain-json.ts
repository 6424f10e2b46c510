import { headOf } from "./storable-text.js";

const quote = 0x22;
const backslash = 0x5c;

/** Whether `text`, JSON, is nested deeper than `most` levels. Reads it once, and never calls itself. */
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

/** Where the string that begins at `start` ends: at its quote, or with the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at++;
  }
  return text.length;
}

/** What JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** An object that JSON can say. */
export type JsonObject = { [key: string]: Json };

/**
 * Deepest nesting kept. LangChain reads no message that is nested deeper than 50 in all, so no graph can hold one
 * either.
 */
export const mostDepth = 40;
/** Most values read at once, of an object that refers to the same parts again and again too: some 100 ms of work. */
const mostValues = 250_000;
/** Most characters read at once: the largest messages of people and tools have some millions. */
const mostCharacters = 16_000_000;
/** Digits of an integer that are written in decimals; for more that takes seconds. */
const mostDigits = 1_000;

/**
 * A reader that makes JSON of whatever it is given, and of several values at most 250,000 values and 16,000,000
 * characters in all; the rest is cut off, with a note in its place. It never throws, constructs nothing that the data
 * names, and leaves what it reads as it is.
 *
 * Undefined for what JSON leaves out: undefined, functions and symbols. Maps and sets become arrays, bytes base64,
 * large integers and errors text.
 */
export function jsonReader(): (value: unknown) => Json | undefined {
  let values = mostValues;
  let characters = mostCharacters;
  const around = new Set<object>();

  const readText = (text: string): string => {
    if (text.length <= characters) {
      characters -= text.length;
      return text;
    }
    const kept = headOf(text, characters);
    characters = 0;
    return `${kept}… [cut off: ${text.length} characters]`;
  };

  const readItems = (items: Iterable<unknown>): Json[] => {
    const kept: Json[] = [];
    for (const item of items) {
      if (values <= 0) return [...kept, "[cut off]"];
      kept.push(read(item) ?? null);
    }
    return kept;
  };

  const readObject = (object: object): JsonObject => {
    const kept: JsonObject = {};
    for (const key of Object.keys(object)) {
      if (values <= 0) {
        kept["…"] = "[cut off]";
        break;
      }
      const value = read(propertyOf(object, key));
      // Checkpoints keep no "__proto__" either: who copies it key by key would make it a prototype.
      if (value !== undefined && key !== "__proto__") kept[readText(key)] = value;
    }
    return kept;
  };

  const readWithin = (object: object): Json | undefined => {
    const bytes = bytesOf(object);
    if (bytes) return readText(bytes.subarray(0, characters).toString("base64"));
    if (isList(object)) return readItems(object);
    const { toJSON } = object as { toJSON?: unknown };
    if (typeof toJSON === "function") return read(toJSON.call(object));
    if (object instanceof Error) return readObject({ name: object.name, message: object.message });
    return object instanceof RegExp ? readText(String(object)) : readObject(object);
  };

  const readNested = (object: object): Json | undefined => {
    if (around.has(object)) return "[circular]";
    if (around.size >= mostDepth) return "[nested too deeply to be kept]";
    around.add(object);
    try {
      return readWithin(object);
    } catch {
      return "[unreadable]";
    } finally {
      around.delete(object);
    }
  };

  function read(value: unknown): Json | undefined {
    values--;
    return typeof value === "object" && value !== null ? readNested(value) : readScalar(value, readText);
  }
  return read;
}

function readScalar(value: unknown, readText: (text: string) => string): Json | undefined {
  switch (typeof value) {
    case "string":
      return readText(value);
    case "number":
      return Number.isFinite(value) ? value : null;
    case "boolean":
      return value;
    case "bigint":
      return readText(digitsOf(value));
    default:
      return value === null ? null : undefined;
  }
}

/** Whether `value` is an object, and not an array, of JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` with `change` of each part of it; itself where none changes. */
export function mapJson(value: Json, change: (part: Json) => Json): Json {
  if (Array.isArray(value)) {
    const parts = value.map((part) => change(part));
    return parts.some((part, index) => part !== value[index]) ? parts : value;
  }
  if (!isJsonObject(value)) return value;
  let changed: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const part = value[key] as Json;
    const made = change(part);
    if (made === part) continue;
    changed ??= { ...value };
    setOwn(changed, key, made);
  }
  return changed ?? value;
}

/** Sets a property of `object` itself, whatever it is called: "__proto__" is a key like any other in data. */
function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** A property of anything; undefined where it cannot be had. */
export function propertyOf(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function isList(object: object): object is Iterable<unknown> & object {
  return (
    Array.isArray(object) || ArrayBuffer.isView(object) || object instanceof Map || object instanceof Set
  );
}

function bytesOf(object: object): Buffer | null {
  if (object instanceof Uint8Array || object instanceof Uint8ClampedArray || object instanceof DataView) {
    return Buffer.from(object.buffer, object.byteOffset, object.byteLength);
  }
  const whole = object instanceof ArrayBuffer || object instanceof SharedArrayBuffer;
  return whole ? Buffer.from(object) : null;
}

/** In decimals, or where there are too many of them, hexadecimal digits. */
function digitsOf(integer: bigint): string {
  const hexadecimal = integer.toString(16);
  return hexadecimal.length <= mostDigits ? integer.toString() : `0x${hexadecimal}`;
}
