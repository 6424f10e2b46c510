import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { MemoryError } from "../errors.js";
import { type TranscriptMessage, textOfParts } from "./message-text.js";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonReader,
  mapJson,
  mostDepth,
  propertyOf,
} from "./plain-json.js";

/** An object of LangChain's as JSON: the path of its class, and what that is made with. */
interface Envelope {
  readonly id: readonly string[];
  readonly kwargs: Readonly<JsonObject>;
}

/** An object as LangChain writes it. What it holds is data, and escaped where it looks like another such object. */
function writeEnvelope(id: Envelope["id"], kwargs: Envelope["kwargs"]): string {
  const data = Object.entries(kwargs).map(([name, value]) => [name, escaped(value)]);
  return JSON.stringify({ lc: 1, type: "constructor", id, kwargs: Object.fromEntries(data) });
}

/** What `serialised` is an object of, and what it holds, as data only; null when it is no such object. */
function readEnvelope(serialised: string): Envelope | null {
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

/** A message as JSON: which class of LangChain's it is of, and what that is made from. */
export interface PlainMessage {
  readonly className: ClassName;
  readonly fields: Readonly<Partial<Record<FieldName, Json>>>;
}

/** What each class of messages is made with; a transcript constructs no others. */
const classes = {
  HumanMessage,
  HumanMessageChunk,
  AIMessage,
  AIMessageChunk,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  ChatMessage,
  ChatMessageChunk,
} as const;

type ClassName = keyof typeof classes;

/** What LangChain calls the types of messages, in the names of their classes; any other is a `ChatMessage`. */
const kinds: Readonly<Record<string, "Human" | "AI" | "System" | "Tool" | "Function">> = {
  human: "Human",
  ai: "AI",
  system: "System",
  tool: "Tool",
  function: "Function",
};

type Form = (value: Json | undefined) => Json | undefined;

const text: Form = (value) =>
  typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : typeof value === "string"
      ? value
      : undefined;
const object: Form = (value) => (isJsonObject(value) ? value : undefined);
const objects: Form = (value) => (Array.isArray(value) ? value.filter(isJsonObject) : undefined);
const anything: Form = (value) => value;

/** Text, or parts, of which each is text or an object; without content there are no parts. */
const content: Form = (value) => {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((part) => (isJsonObject(part) ? part : (text(part) ?? [])));
  }
  return isJsonObject(value) ? [value] : text(value);
};

/** What is kept of a message, and the form in which LangChain's classes take it. */
const forms = {
  content,
  id: text,
  name: text,
  role: text,
  status: text,
  tool_call_id: text,
  tool_calls: objects,
  invalid_tool_calls: objects,
  tool_call_chunks: objects,
  usage_metadata: object,
  response_metadata: object,
  additional_kwargs: object,
  metadata: object,
  artifact: anything,
} as const satisfies Record<string, Form>;

type FieldName = keyof typeof forms;

/** `message` as JSON, whatever is in it: what JSON cannot say is left out, or stands there as text. */
export function plainMessage(message: BaseMessage): PlainMessage {
  return { className: classNameOf(message), fields: fieldsOf(message) };
}

/** A new message made of `plain`. What its class cannot be made from is left out, but for what it says. */
export function messageOf({ className, fields }: PlainMessage): BaseMessage {
  const make = (given: PlainMessage["fields"]) => {
    const message = new (classes[className] as new (fields: object) => BaseMessage)({ ...given });
    // LangChain reads parts only when it is asked for the text, and fails then.
    if (typeof given.content !== "string") void message.text;
    return message;
  };
  try {
    return make(fields);
  } catch {
    const { id, name, role, status, tool_call_id } = fields;
    const named = Object.entries({ id, name, role, status, tool_call_id }).filter(
      ([, value]) => value !== undefined,
    );
    return make({ ...Object.fromEntries(named), content: textOfParts(fields.content) });
  }
}

/**
 * `message` as text that `decodeMessage` turns back into the same LangChain message, whatever is in it.
 *
 * It is what LangChain writes of messages, so that exports can be read with it; what a message holds is escaped where
 * it looks like an object of LangChain's.
 */
export function encodeMessage(message: BaseMessage): string {
  return encodePlain(plainMessage(message));
}

/** The same of a message as JSON. */
export function encodePlain({ className, fields }: PlainMessage): string {
  return writeEnvelope(["langchain_core", "messages", className], fields);
}

/**
 * The message that `serialised` was made from. Nothing else that it may name is ever constructed.
 *
 * @throws MemoryError `DATABASE_ERROR` when it is no message.
 */
export function decodeMessage(serialised: string): BaseMessage {
  const { id, kwargs } = readEnvelope(serialised) ?? { id: [], kwargs: {} };
  const className = id.at(-1) ?? "";
  if (Object.hasOwn(classes, className)) {
    // A message made of `contentBlocks` has its content there.
    const fields = fieldsOf({ ...kwargs, content: kwargs.content ?? kwargs.content_blocks });
    return messageOf({ className: className as ClassName, fields });
  }
  throw new MemoryError(
    "DATABASE_ERROR",
    "A message of the transcript cannot be read: its content was altered.",
  );
}

/** The message that was stored as `stored`, with its id; where it cannot be read, one of its role with its name and text. */
export function storedMessage(stored: Omit<TranscriptMessage, "seq">): BaseMessage {
  const { messageId: id, role, actor, text: content } = stored;
  try {
    const message = decodeMessage(stored.serialised);
    message.id ||= id;
    return message;
  } catch {
    const fields = { id, content, ...(actor !== null && { name: actor }) };
    if (role === "user") return new HumanMessage(fields);
    if (role === "assistant") return new AIMessage(fields);
    if (role === "system") return new SystemMessage(fields);
    if (role === "tool") return new ToolMessage({ ...fields, tool_call_id: "" });
    return new ChatMessage({ ...fields, role });
  }
}

/** Characters of a text that no bound of a reader cuts off. */
const shortText = 1_000;

const fieldNames = Object.keys(forms) as FieldName[];

/** Each short text is read on its own, so that nothing long can cut it off. */
function fieldsOf(holder: object): PlainMessage["fields"] {
  let shared: ReturnType<typeof jsonReader> | undefined;
  const together = (given: unknown) => {
    shared ??= jsonReader();
    return shared(given);
  };
  const fields: Partial<Record<FieldName, Json>> = {};
  for (const name of fieldNames) {
    const given = propertyOf(holder, name);
    // Most fields are not there, and texts are short or lists empty: none of them needs to be read.
    if (given === undefined && name !== "content") continue;
    const form: Form = forms[name];
    const value = form(shortJson(given) ?? (form === text ? jsonReader() : together)(given));
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/**
 * `given` as JSON, where that is a short text, or has nothing in it; undefined for what is to be read, as is what cannot
 * even be looked at.
 */
function shortJson(given: unknown): Json | undefined {
  if (typeof given === "string") return given.length < shortText ? given : undefined;
  try {
    if (Array.isArray(given)) return given.length === 0 ? [] : undefined;
    return isEmptyObject(given) ? {} : undefined;
  } catch {
    return undefined;
  }
}

function isEmptyObject(given: unknown): boolean {
  if (typeof given !== "object" || given === null || Object.getPrototypeOf(given) !== Object.prototype)
    return false;
  for (const _ in given) return false;
  return true;
}

/** Classes of other packages, and those that extend one, count as LangChain's own class of their type. */
function classNameOf(message: BaseMessage): ClassName {
  const kind = (Object.hasOwn(kinds, typeOf(message)) && kinds[typeOf(message)]) || "Chat";
  const maker = (propertyOf(message, "constructor") ?? {}) as { name?: unknown; lc_name?: () => unknown };
  const names = [maker.name, typeof maker.lc_name === "function" ? maker.lc_name() : undefined];
  return names.includes(`${kind}MessageChunk`) ? `${kind}MessageChunk` : `${kind}Message`;
}

function typeOf(message: BaseMessage): string {
  try {
    return String(message.getType());
  } catch {
    return "";
  }
}
