import type { PlainMessage } from "./message-codec.js";
import { isJsonObject, type Json, type JsonObject, mostDepth } from "./plain-json.js";

/** What becomes of a text. */
type Rewrite = (text: string) => string;

/** A message's own fields that are names and references, without which it could not be read again. */
const references: ReadonlySet<string> = new Set(["id", "tool_call_id", "status", "role"]);

/** Likewise in a tool call, and in a part of the content. What is nested deeper is anybody's data. */
const callReferences: ReadonlySet<string> = new Set(["id", "name", "type", "index"]);
const partReferences: ReadonlySet<string> = new Set([
  ...[
    "id",
    "type",
    "index",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "file_id",
    "fileId",
    "format",
    "detail",
  ],
  ...["source_type", "mime_type", "mimeType", "media_type"],
]);

/** Names that LangChain and providers give to what a call or a part holds; other keys may be anything. */
const partNames: ReadonlySet<string> = new Set([
  ...partReferences,
  ...["text", "name", "data", "url", "source", "image_url", "input_audio", "file", "file_data", "filename"],
  ...[
    "reasoning",
    "thinking",
    "signature",
    "annotations",
    "cache_control",
    "metadata",
    "args",
    "input",
    "output",
  ],
  ...[
    "content",
    "title",
    "context",
    "image",
    "audio",
    "video",
    "error",
    "extras",
    "value",
    "summary",
    "refusal",
  ],
]);

/** Parts of a part that say where a picture, a sound or a file is. */
const media: ReadonlySet<string> = new Set([
  ...["source", "image_url", "input_audio", "file", "image", "audio", "video"],
]);

/** Shortest base64 that is taken for a file: what is shorter may as well be a number or a name. */
const shortestFile = 64;

/** `message` with `rewrite` of all that it says, at any depth and in keys too; only its own references stay. */
export function rewriteMessage(message: PlainMessage, rewrite: Rewrite): PlainMessage {
  const { className, fields } = message;
  const isTool = /^(Tool|Function)/.test(className);
  const entries = Object.entries(fields).map(([name, value]): [string, Json] => {
    if (references.has(name) || (name === "name" && isTool)) return [name, value];
    if (name === "content") return [name, rewriteContent(value, rewrite)];
    const isCalls = /tool_call/.test(name) && Array.isArray(value);
    return [name, isCalls ? value.map((call) => rewriteCall(call, rewrite)) : rewriteJson(value, rewrite)];
  });
  return { className, fields: Object.fromEntries(entries) };
}

/** Records of this package's own: which keys they have, and which of these hold references. */
export interface OwnRecords {
  readonly names: ReadonlySet<string>;
  readonly references: ReadonlySet<string>;
}

const anybodys: OwnRecords = { names: new Set(), references: new Set() };

/** `value` with `rewrite` of every text in it, keys too, but for those that `own` names. */
export function rewriteJson<Value>(value: Value, rewrite: Rewrite, own = anybodys, depth = 0): Value {
  if (typeof value === "string") return rewrite(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (depth > mostDepth) return "[nested too deeply to be kept]" as Value;
  const within = (inner: Json) => rewriteJson(inner, rewrite, own, depth + 1);
  if (!isJsonObject(value)) return (Array.isArray(value) ? value.map(within) : value) as Value;
  const rekey: Rewrite = (key) => (own.names.has(key) ? key : rewrite(key));
  return rewriteObject(value, rekey, (key, inner) =>
    own.references.has(key) && typeof inner === "string" ? inner : within(inner),
  ) as Value;
}

function rewriteContent(content: Json, rewrite: Rewrite): Json {
  if (!Array.isArray(content)) return rewriteJson(content, rewrite);
  return content.map((part) =>
    isJsonObject(part) ? rewritePart(part, rewrite) : rewriteJson(part, rewrite),
  );
}

function rewritePart(part: JsonObject, rewrite: Rewrite, isWithin = false): JsonObject {
  const isCall = /tool|function/.test(String(part.type));
  const rekey: Rewrite = (key) => (partNames.has(key) ? key : rewrite(key));
  return rewriteObject(part, rekey, (key, value) => {
    if (isJsonObject(value) && media.has(key) && !isWithin) return rewritePart(value, rewrite, true);
    if (typeof value === "object") return rewriteJson(value, rewrite);
    const stays = partReferences.has(key) || (key === "name" && isCall) || isFile(key, value);
    return stays ? value : rewriteJson(value, rewrite);
  });
}

function rewriteCall(call: Json, rewrite: Rewrite): Json {
  if (!isJsonObject(call)) return rewriteJson(call, rewrite);
  const rekey: Rewrite = (key) => (callReferences.has(key) || partNames.has(key) ? key : rewrite(key));
  return rewriteObject(call, rekey, (key, value) =>
    callReferences.has(key) && typeof value !== "object" ? value : rewriteJson(value, rewrite),
  );
}

/** Whether under `key` stands the content of a file: base64, alone or in a `data:` URL, which holds no words. */
function isFile(key: string, value: Json): boolean {
  if (typeof value !== "string") return false;
  const content = value.replace(/^data:[\w.+-]{1,100}\/[\w.+-]{1,100};base64,/, "");
  const isBare = content.length === value.length;
  const isPlace = isBare ? /^(data|file_data)$/ : /^(data|file_data|url|image_url)$/;
  return isPlace.test(key) && content.length >= shortestFile && /^[A-Za-z0-9+/_-]+={0,2}$/.test(content);
}

/** Keys that become the same get a number, so that nothing that stood under them is lost. */
function rewriteObject(
  object: JsonObject,
  rekey: Rewrite,
  within: (key: string, value: Json) => Json,
): JsonObject {
  const keys = Object.keys(object);
  const taken = new Set(keys.filter((key) => rekey(key) === key));
  const counts = new Map<string, number>();
  const entries = keys.map((key): [string, Json] => {
    const value = within(key, object[key] as Json);
    const wanted = rekey(key);
    if (wanted === key) return [key, value];
    let name = wanted;
    let count = counts.get(wanted) ?? 1;
    while (taken.has(name)) {
      count++;
      name = `${wanted} (${count})`;
    }
    counts.set(wanted, count);
    taken.add(name);
    return [name, value];
  });
  return Object.fromEntries(entries);
}
