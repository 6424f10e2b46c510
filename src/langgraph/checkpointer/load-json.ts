import * as messageClasses from "@langchain/core/messages";

/** LangGraph refuses deeper values within a message. */
const mostDepth = 40;

/** Thrown for values that only LangGraph's serializer knows. */
const isOther = Symbol("other");

/**
 * LangGraph's `JsonPlusSerializer` without a promise for each part: a third less processor time for
 * a turn.
 */
export function loadJson(json: string): { readonly value: unknown } | undefined {
  const value: unknown = JSON.parse(json);
  try {
    return { value: revived(value, 0) };
  } catch (error) {
    if (error === isOther) return undefined;
    throw error;
  }
}

type Fields = Record<string, unknown>;

function revived(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > mostDepth) throw isOther;
  if (Array.isArray(value)) {
    for (const [place, item] of value.entries()) value[place] = revived(item, depth + 1);
    return value;
  }
  const fields = value as Fields;
  if (Object.hasOwn(fields, "lc")) return isUndefined(fields) ? undefined : messageOf(fields);
  for (const name of namesOf(fields)) fields[name] = revived(fields[name], depth + 1);
  return fields;
}

function messageOf({ lc, type, id, kwargs }: Fields): unknown {
  if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || id.length !== 3) throw isOther;
  const [library, area, name] = id as unknown[];
  const form = library === "langchain_core" && area === "messages" && formOf(String(name));
  if (!form || typeof kwargs !== "object" || kwargs === null || Array.isArray(kwargs))
    throw isOther;
  const fields = withoutUndefined(kwargs, 0) as Fields;
  if (!Object.keys(fields).every((key) => form.keys.has(key) || !/[-_\s]/.test(key))) throw isOther;
  return new form.Message(fields);
}

/** Changes `value`: JSON has no undefined. */
function withoutUndefined(value: object, depth: number): object {
  if (depth > mostDepth) throw isOther;
  const fields = value as Fields;
  for (const name of Array.isArray(value) ? value.keys() : namesOf(fields)) {
    const inner = fields[name];
    if (typeof inner !== "object" || inner === null) continue;
    if (!Object.hasOwn(inner, "lc")) withoutUndefined(inner, depth + 1);
    else if (isUndefined(inner as Fields) && !Array.isArray(value)) delete fields[name];
    else throw isOther;
  }
  return value;
}

const isUndefined = ({ lc, type }: Fields) => lc === 2 && type === "undefined";

function namesOf(fields: Fields): string[] {
  const names = Object.keys(fields);
  if (names.includes("__proto__") || names.includes("__lc_escaped__")) throw isOther;
  return names;
}

interface Form {
  readonly Message: new (fields: Fields) => unknown;
  /** Keys that LangChain takes unchanged; it renames others with separators. */
  readonly keys: ReadonlySet<string>;
}

const base = messageClasses.BaseMessage.prototype;
/** Of names that are messages: others are as many as a payload has. */
const forms = new Map<string, Form>();

function formOf(name: string): Form | null {
  const known = forms.get(name);
  if (known) return known;
  const Message = (messageClasses as Fields)[name];
  // LangChain's `instanceof` looks for a field of instances.
  const isMessage =
    typeof Message === "function" && Object.prototype.isPrototypeOf.call(base, Message.prototype);
  if (!isMessage) return null;
  const form = { Message: Message as Form["Message"], keys: keysOf(Message.prototype) };
  forms.set(name, form);
  return form;
}

function keysOf(prototype: object | null): Set<string> {
  if (prototype === null) return new Set();
  const aliases = Object.entries(
    (Reflect.get(prototype, "lc_aliases") as object | undefined) ?? {},
  );
  const keys = keysOf(Object.getPrototypeOf(prototype));
  for (const [field, key] of aliases) if (field === key) keys.add(field);
  return keys;
}
