import { setImmediate } from "node:timers/promises";
import { MemoryError } from "../errors.js";
import { isJsonObject, type Json, type JsonObject, maxJsonDepth } from "../input/plain-json.js";
import type { PlainMessage } from "../messages/message-codec.js";

type Rewrite = (text: string) => string;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const references = setOf("id tool_call_id status role");

const partReferences = setOf(
  "id type index tool_call_id tool_use_id call_id file_id fileId format detail source_type mime_type mimeType " +
    "media_type",
);

/**
 * Keys of LangChain and providers in a call or a part, and of this package's own records; other
 * keys may be anything.
 */
const knownNames: ReadonlySet<string> = new Set([
  ...partReferences,
  ...setOf(
    "text name data url source image_url input_audio file file_data filename reasoning thinking signature " +
      "annotations cache_control metadata args input output content title context image audio video error extras " +
      "value summary refusal threadId seqs quote turns start end correction messageId messageHash decision via request signals " +
      "turn seq links to strength revertOf query results messages",
  ),
]);

function rewriteMessage(message: PlainMessage, rewrite: Rewrite): PlainMessage {
  const { type, data } = message;
  const isTool = type === "tool" || type === "function";
  const entries = Object.entries(data).map(([name, value]): [string, Json] => {
    if (references.has(name) || (name === "name" && isTool)) return [name, value];
    const isCalls = /tool_call/.test(name);
    if (Array.isArray(value) && (isCalls || name === "content"))
      return [name, value.map((part) => rewritePart(part, rewrite, isCalls))];
    return [name, rewriteJson(value, rewrite)];
  });
  return { type, data: Object.fromEntries(entries) };
}

interface OwnRecords {
  readonly names: ReadonlySet<string>;
  readonly references: ReadonlySet<string>;
}

const anybodys: OwnRecords = { names: new Set(), references: new Set() };

function rewriteJson<Value>(value: Value, rewrite: Rewrite, own = anybodys, depth = 0): Value {
  if (typeof value === "string") return rewrite(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxJsonDepth) return "[nested too deeply to be kept]" as Value;
  const within = (inner: Json) => rewriteJson(inner, rewrite, own, depth + 1);
  if (Array.isArray(value)) return value.map(within) as Value;
  return rewriteObject(value as JsonObject, own.names, rewrite, (key, inner) =>
    own.references.has(key) && typeof inner === "string" ? inner : within(inner),
  ) as Value;
}

/** Deeper values are application data. */
function rewritePart(part: Json, rewrite: Rewrite, isCall: boolean): Json {
  if (!isJsonObject(part)) return rewriteJson(part, rewrite);
  const hasName = isCall || /tool|function/.test(String(part.type));
  return rewriteObject(part, knownNames, rewrite, (key, value) => {
    const stays =
      typeof value !== "object" && (partReferences.has(key) || (key === "name" && hasName));
    return stays ? value : rewriteJson(value, rewrite);
  });
}

/** Rewrites keys, but for `names`. Numbers those that become equal, so that no value is lost. */
function rewriteObject(
  object: JsonObject,
  names: ReadonlySet<string>,
  rewrite: Rewrite,
  within: (key: string, value: Json) => Json,
): JsonObject {
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  const freeName = (wanted: string): string => {
    let name = wanted;
    let count = counts.get(wanted) ?? 1;
    while (taken.has(name) || Object.hasOwn(object, name)) {
      count++;
      name = `${wanted} (${count})`;
    }
    counts.set(wanted, count);
    taken.add(name);
    return name;
  };
  const entries = Object.entries(object).map(([key, value]) => {
    const wanted = names.has(key) ? key : rewrite(key);
    return [wanted === key ? key : freeName(wanted), within(key, value)];
  });
  return Object.fromEntries(entries);
}

export type Redact = (text: string) => string | Promise<string>;

/** The function `redact` applied before anything is stored. @throws MemoryError `REDACTION_FAILED` */
export interface Redactor {
  readonly redacts: boolean;
  text(text: string): Promise<string>;
  json<Value>(value: Value): Promise<Value>;
  /** A copy, redacted at any depth, with keys. References (ids, types, roles, tools) stay. */
  message(message: PlainMessage): Promise<PlainMessage>;
}

const noRedactor: Redactor = {
  redacts: false,
  text: async (text) => text,
  json: async (value) => value,
  message: async (message) => message,
};

export async function redactFields<Of extends object>(
  redactor: Redactor,
  record: Of,
  names: readonly string[],
): Promise<Of> {
  const given = Object.entries(record).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  const values = await redactor.json(given.map(([, value]) => value as unknown));
  return { ...record, ...Object.fromEntries(given.map(([name], place) => [name, values[place]])) };
}

export function createRedactor(
  redact: Redact | undefined,
  fieldNames: readonly string[] = [],
): Redactor {
  if (!redact) return noRedactor;
  const own = { ...ownRecords, names: new Set([...ownRecords.names, ...fieldNames]) };
  return {
    redacts: true,
    message: (message) => rewritten(redact, (rewrite) => rewriteMessage(message, rewrite)),
    text: (text) => rewritten(redact, (rewrite) => rewrite(text)),
    json: (value) => rewritten(redact, (rewrite) => rewriteJson(value, rewrite, own)),
  };
}

const ownRecords: OwnRecords = {
  names: knownNames,
  references: setOf("threadId messageId messageHash"),
};

const textsAtOnce = 100;

/** Calls `rewriteAll` twice: to collect the texts, and to replace them. Redacts each text once. */
async function rewritten<Result>(
  redact: Redact,
  rewriteAll: (rewrite: Rewrite) => Result,
): Promise<Result> {
  const results = new Map<string, string>();
  rewriteAll((text) => {
    if (/\S/.test(text)) results.set(text, text);
    return text;
  });
  const texts = [...results.keys()];
  for (let first = 0; first < texts.length; first += textsAtOnce) {
    // Collecting 200,000 texts takes a tenth of a second, and so does replacing them.
    if (texts.length > textsAtOnce) await setImmediate();
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
    // The message of the cause may quote the text.
    const message = "The function `redact` failed, so nothing was stored.";
    throw new MemoryError("REDACTION_FAILED", message, { cause });
  }
  if (typeof result === "string") return result;
  throw new MemoryError(
    "REDACTION_FAILED",
    "The function `redact` returned no text, so nothing was stored.",
  );
}
