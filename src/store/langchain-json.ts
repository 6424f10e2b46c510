import { isJsonObject, type Json, type JsonObject, mapJson, mostDepth } from "../domain/plain-json.js";

/** An object of LangChain's as JSON: the path of its class, and what that is made with. */
interface Envelope {
  readonly id: readonly string[];
  readonly kwargs: Readonly<JsonObject>;
}

/** An object as LangChain writes it. What it holds is data, and escaped where it looks like another such object. */
export function writeEnvelope(id: Envelope["id"], kwargs: Envelope["kwargs"]): string {
  const data = Object.entries(kwargs).map(([name, value]) => [name, escaped(value)]);
  return JSON.stringify({ lc: 1, type: "constructor", id, kwargs: Object.fromEntries(data) });
}

/** What `serialised` is an object of, and what it holds, as data only; null when it is no such object. */
export function readEnvelope(serialised: string): Envelope | null {
  const { lc, type, id, kwargs } = parsed(serialised);
  if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || !isJsonObject(kwargs)) return null;
  return {
    id: id.filter((name) => typeof name === "string"),
    kwargs: isEscaping(serialised) ? (unescaped(kwargs) as Envelope["kwargs"]) : kwargs,
  };
}

/** Whether anything in `serialised`, beyond the object itself, was written in LangChain's own ways. */
function isEscaping(serialised: string): boolean {
  const isAgain = serialised.indexOf('"lc"') < serialised.lastIndexOf('"lc"');
  return isAgain || serialised.includes(escapeKey);
}

function parsed(serialised: string): JsonObject {
  try {
    const value: unknown = JSON.parse(serialised);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

const escapeKey = "__lc_escaped__";

const isEscape = (value: JsonObject) => Object.hasOwn(value, escapeKey) && Object.keys(value).length === 1;

/** `value` as LangChain escapes data: nothing within it looks like an object of LangChain's. */
function escaped(value: Json): Json {
  if (isJsonObject(value) && (Object.hasOwn(value, "lc") || isEscape(value))) return { [escapeKey]: value };
  return mapJson(value, escaped);
}

/**
 * What `escaped`, or LangGraph's serializer, was given, as data; what is nested too deeply is not looked at. That
 * serializer writes undefined as a record of its own.
 */
function unescaped(value: Json, depth = 0): Json {
  if (depth > mostDepth + 1) return value;
  if (isJsonObject(value)) {
    if (isEscape(value)) return value[escapeKey] as Json;
    const entries = Object.entries(value);
    const said = entries.filter(([, part]) => !isUndefined(part));
    if (said.length < entries.length) return unescaped(Object.fromEntries(said), depth);
  }
  return mapJson(value, (part) => unescaped(part, depth + 1));
}

const isUndefined = (value: Json) => isJsonObject(value) && value.lc === 2 && value.type === "undefined";
