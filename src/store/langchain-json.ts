import { isJsonObject, type Json, type JsonObject, mostDepth } from "../domain/plain-json.js";

/** An object of LangChain's as JSON: the path of its class, and what that is made with. */
interface Envelope {
  readonly id: readonly string[];
  readonly kwargs: Readonly<Record<string, unknown>>;
}

/** An object as LangChain writes it. What it holds is data, and escaped where it looks like another such object. */
export function writeEnvelope(id: Envelope["id"], kwargs: Readonly<Record<string, Json>>): string {
  const data = Object.entries(kwargs).map(([name, value]) => [name, escaped(value)]);
  return JSON.stringify({ lc: 1, type: "constructor", id, kwargs: Object.fromEntries(data) });
}

/** What `serialised` is an object of, and what it holds, as data only; null when it is no such object. */
export function readEnvelope(serialised: string): Envelope | null {
  const { lc, type, id, kwargs } = parsed(serialised);
  if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || !isJsonObject(kwargs)) return null;
  return {
    id: id.filter((name) => typeof name === "string"),
    kwargs: unescaped(kwargs) as Envelope["kwargs"],
  };
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
  if (Array.isArray(value)) return value.map(escaped);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, "lc") || isEscape(value)) return { [escapeKey]: value };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]));
}

/** What `escaped`, or LangGraph's serializer, was given, as data; what is nested too deeply is not looked at. */
function unescaped(value: unknown, depth = 0): unknown {
  if (depth > mostDepth + 1) return value;
  if (Array.isArray(value)) return value.map((item) => unescaped(item, depth + 1));
  if (!isJsonObject(value)) return value;
  if (isEscape(value)) return value[escapeKey];
  if (value.lc === 2) return unescaped(dataOf(value), depth + 1);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unescaped(inner, depth + 1)]));
}

/** The data of a record that LangGraph's serializer writes for undefined, sets, maps, bytes and their like. */
function dataOf({ type, id, args }: JsonObject): unknown {
  const [first] = Array.isArray(args) ? args : [];
  const isBytes =
    type === "constructor" && Array.isArray(id) && id[0] === "Uint8Array" && Array.isArray(first);
  return isBytes ? Buffer.from(first as number[]).toString("base64") : first;
}
