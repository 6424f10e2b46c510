import { setImmediate } from "node:timers/promises";
import type { BaseMessage } from "@langchain/core/messages";
import { MemoryError } from "../errors.js";
import { decodeMessage, encodeMessage, messageOf, plainMessage } from "./message-codec.js";
import { type OwnRecords, rewriteJson, rewriteMessage } from "./message-words.js";

/** Takes out of a text what must not be kept, such as names of patients; the same text gives the same result. */
export type Redact = (text: string) => string | Promise<string>;

/**
 * What the user's function makes of things before they are stored.
 *
 * Each throws MemoryError `REDACTION_FAILED` when the function fails or returns no text: then nothing is stored.
 */
export interface Redactor {
  text(text: string): Promise<string>;
  /** Every text within a JSON value, at any depth, and every key that is none of this package's own. */
  json<Value>(value: Value): Promise<Value>;
  /**
   * A copy of what was said, with all that it says in parts, tool calls, artifacts and metadata, keys too. Only its
   * own references stay (ids, types, roles, names of tools), and contents of files in base64.
   */
  message(message: BaseMessage): Promise<BaseMessage>;
  /** The same of a serialised message. @throws MemoryError `DATABASE_ERROR` for what is none. */
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
  const message = async (said: BaseMessage) =>
    messageOf(await rewritten(redact, (rewrite) => rewriteMessage(plainMessage(said), rewrite)));
  return {
    message,
    text: (text) => rewritten(redact, (rewrite) => rewrite(text)),
    json: (value) => rewritten(redact, (rewrite) => rewriteJson(value, rewrite, ownRecords)),
    // Read and written anew, so that only what a message has is kept of it.
    serialised: async (given) => encodeMessage(await message(await decodeMessage(given))),
  };
}

/** What this package itself keeps of memories, their versions, consents and signals, and tells in spans. */
const ownRecords: OwnRecords = {
  names: new Set([
    ...["text", "kind", "category", "key", "value", "importance", "confidence", "pinned", "tags", "state"],
    ...["agentId", "runId", "actorId", "role", "origin", "trust", "source", "threadId", "seqs", "quote"],
    ...["turns", "start", "end", "validFrom", "validTo", "correction", "messageId", "evidence", "decision"],
    ...["via", "request", "signals", "turn", "seq", "seenCount", "supersededBy", "links", "to", "strength"],
    ...["lastAccessedAt", "revertOf", "query", "results", "messages"],
  ]),
  references: new Set(["threadId", "messageId"]),
};

/** Texts given to the user's function at once: many wait for a service better than one after the other. */
const textsAtOnce = 100;

/**
 * What `rewriteAll` gives when each text becomes what the user's function makes of it. It is asked twice: which texts
 * there are, and for the result. Each text is redacted once, however often it occurs.
 */
async function rewritten<Result>(
  redact: Redact,
  rewriteAll: (rewrite: (text: string) => string) => Result,
): Promise<Result> {
  const results = new Map<string, string>();
  rewriteAll((text) => {
    if (/\S/.test(text)) results.set(text, text);
    return text;
  });
  const texts = [...results.keys()];
  for (let first = 0; first < texts.length; first += textsAtOnce) {
    if (first > 0) await setImmediate();
    const some = texts.slice(first, first + textsAtOnce);
    const made = await Promise.all(some.map((text) => redacted(redact, text)));
    for (const [index, text] of some.entries()) results.set(text, made[index] as string);
  }
  return rewriteAll((text) => results.get(text) ?? text);
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
