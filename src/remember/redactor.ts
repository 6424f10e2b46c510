import type { BaseMessage } from "@langchain/core/messages";
import { MemoryError } from "../errors.js";
import { decodeMessage, encodeMessage } from "../store/message-codec.js";

/** Takes out of a text what must not be kept, such as names of patients; the same text gives the same result. */
export type Redact = (text: string) => string | Promise<string>;

/**
 * What the user's function makes of things before they are stored.
 *
 * Each throws MemoryError `REDACTION_FAILED` when the function fails or returns no text: then nothing is stored.
 */
export interface Redactor {
  text(text: string): Promise<string>;
  /** Every text within a JSON value, and every key that is not just a name. */
  json<Value>(value: Value): Promise<Value>;
  /** A copy of what was said, with all that is said in parts, tool calls and artifacts; ids and types stay. */
  message(message: BaseMessage): Promise<BaseMessage>;
  /** The same of a serialised message. What is none is an error of LangChain's. */
  serialised(serialised: string): Promise<string>;
}

/** Leaves everything as it is. */
const nothing: Redactor = {
  text: async (text) => text,
  json: async (value) => value,
  message: async (message) => message,
  serialised: async (serialised) => serialised,
};

/** The `Redactor` of the user's function; without one, everything stays as it is. */
export function createRedactor(redact: Redact | undefined): Redactor {
  if (!redact) return nothing;
  const text = async (whole: string) => (/\S/.test(whole) ? redacted(redact, whole) : whole);
  // What is stored is made of the serialised message: nothing that it holds can be missed.
  const message = async (said: BaseMessage) => {
    const serialised = JSON.parse(await encodeMessage(said)) as { kwargs?: unknown };
    const kwargs = await withinJson(serialised.kwargs, text);
    return decodeMessage(JSON.stringify({ ...serialised, kwargs }));
  };
  return {
    ...{ text, message },
    json: (value) => withinJson(value, text),
    // Read and written anew, so that only what a message has is kept of it.
    serialised: async (given) => encodeMessage(await message(await decodeMessage(given))),
  };
}

async function redacted(redact: Redact, whole: string): Promise<string> {
  let result: unknown;
  try {
    result = await redact(whole);
  } catch (cause) {
    // Not the message of the cause: it may quote what was to be redacted.
    throw new MemoryError("REDACTION_FAILED", "The function `redact` failed, so nothing was stored.", {
      cause,
    });
  }
  if (typeof result === "string") return result;
  throw new MemoryError("REDACTION_FAILED", "The function `redact` returned no text, so nothing was stored.");
}

/** Fields that hold names and references, which must stay what they are for the message to be read again. */
const structural: ReadonlySet<string> = new Set([
  ...["lc", "type", "id", "tool_call_id", "role", "status", "index", "source_type", "mime_type", "mimeType"],
]);

type Text = (text: string) => Promise<string>;

async function withinJson<Value>(value: Value, text: Text): Promise<Value> {
  if (typeof value === "string") return (await text(value)) as Value;
  if (Array.isArray(value)) return (await Promise.all(value.map((item) => withinJson(item, text)))) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, inner]) => {
      const name = /^[\w$-]+$/.test(key) ? key : await text(key);
      return [name, isStructural(value, key, inner) ? inner : await withinJson(inner, text)] as const;
    }),
  );
  return Object.fromEntries(entries) as Value;
}

function isStructural(parent: object, key: string, inner: unknown): boolean {
  if (typeof inner !== "string") return key === "id" && Array.isArray(inner);
  if (structural.has(key) || /^data:[^,]*;base64,/.test(inner)) return true;
  // The name of a tool, and not of a person.
  if (key === "name") return "args" in parent || "arguments" in parent || "tool_call_id" in parent;
  return key === "data" && ("mime_type" in parent || "mimeType" in parent);
}
