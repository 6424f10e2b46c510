import { z } from "zod";
import { maxConditions } from "../../input/parse-input.js";
import { isDeeper } from "../../input/plain-json.js";
import { isStorable } from "../../text/storable-text.js";

/** Plain JSON that your program stores with a memory: `{ customer: 42 }`. No model sees it. */
export type MemoryMetadata = Readonly<Record<string, unknown>>;

/** As JSON. */
const maxMetadataCharacters = 8_000;
const maxLevels = 10;

export const metadataField = z.custom<MemoryMetadata>().superRefine((value, context) => {
  const problem = metadataProblem(value);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

export const metadataFilter = metadataField.superRefine((value, context) => {
  const { length } = Object.keys(value ?? {});
  const message = `has ${length} conditions, and ${maxConditions} are accepted`;
  if (length > maxConditions) context.addIssue({ code: "custom", message });
});

function metadataProblem(value: unknown): string | null {
  if (!isPlainObject(value)) return "must be an object of plain JSON";
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    return "must be plain JSON, without references to itself";
  }
  if (text.length > maxMetadataCharacters)
    return `is longer than ${maxMetadataCharacters} characters of JSON`;
  if (isDeeper(text, maxLevels)) return `is nested deeper than ${maxLevels} levels`;
  return plainProblem(value);
}

function plainProblem(value: unknown): string | null {
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "number")
    return Number.isFinite(value) ? null : "has a number that JSON cannot represent";
  if (typeof value === "string") return isStorable(value) ? null : unstorable;
  if (Array.isArray(value)) return firstProblem(value);
  if (!isPlainObject(value))
    return "has a value that is no plain JSON: pass dates as text, and no undefined values";
  // A copy key by key would set the prototype.
  if (Object.hasOwn(value, "__proto__")) return 'has a key "__proto__", which JavaScript reserves';
  if (!Object.keys(value).every(isStorable)) return unstorable;
  return firstProblem(Object.values(value));
}

const unstorable = "has characters that cannot be stored: NUL, or half of a surrogate pair";

function firstProblem(values: readonly unknown[]): string | null {
  return values.map(plainProblem).find((problem) => problem !== null) ?? null;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** `metadata`, or `otherwise` where it is too long. */
export function boundedMetadata(
  metadata: MemoryMetadata,
  otherwise: MemoryMetadata,
): MemoryMetadata {
  return JSON.stringify(metadata).length <= maxMetadataCharacters ? metadata : otherwise;
}
