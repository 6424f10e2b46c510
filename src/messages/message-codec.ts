import {
  type BaseMessage,
  mapStoredMessageToChatMessage,
  type StoredMessage,
} from "@langchain/core/messages";
import { MemoryError } from "../errors.js";
import {
  attempt,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonReader,
  propertyOf,
} from "../input/plain-json.js";
import { type TranscriptMessage, textOfParts } from "./message-text.js";

/**
 * The only message classes constructed, with their required fields. Other types become a
 * `ChatMessage`.
 */
const types = {
  human: {},
  ai: {},
  system: {},
  tool: { tool_call_id: "" },
  function: { name: "" },
  generic: { role: "generic" },
} as const;

export interface PlainMessage {
  readonly type: keyof typeof types;
  readonly data: Readonly<JsonObject>;
}

type Form = (value: Json | undefined) => Json | undefined;

const isText = (value: unknown) => ["number", "boolean", "string"].includes(typeof value);
const text: Form = (value) => (isText(value) ? `${value}` : undefined);
const object: Form = (value) => (isJsonObject(value) ? value : undefined);
const objects: Form = (value) => (Array.isArray(value) ? value.filter(isJsonObject) : undefined);

const content: Form = (value) => {
  if (!Array.isArray(value)) return isJsonObject(value) ? [value] : (text(value) ?? []);
  return value.flatMap((part) => (isJsonObject(part) ? part : (text(part) ?? [])));
};

/** The kept fields, in LangChain's form. Names come first, so that no limit cuts them off. */
const forms: { readonly [field: string]: Form } = {
  id: text,
  name: text,
  role: text,
  status: text,
  tool_call_id: text,
  content,
  tool_calls: objects,
  invalid_tool_calls: objects,
  usage_metadata: object,
  response_metadata: object,
  additional_kwargs: object,
  metadata: object,
  artifact: (value) => value,
};

/** LangChain's `mapChatMessagesToStoredMessages` fails for values that JSON cannot represent. */
export const plainMessage = (message: BaseMessage): PlainMessage => ({
  type: typeOf(message),
  data: dataOf(message),
});

export function messageOf({ type, data }: PlainMessage): BaseMessage {
  const make = (given: JsonObject) => {
    const stored = { type, data: { ...types[type], ...given } } as unknown as StoredMessage;
    const message = mapStoredMessageToChatMessage(stored);
    // LangChain parses the parts only when the text is read, and may fail then.
    if (typeof message.content !== "string") void message.text;
    return message;
  };
  const whole = attempt(() => make(data));
  if (whole) return whole;
  const texts = Object.entries(data).filter(([name]) => forms[name] === text);
  return make({ ...Object.fromEntries(texts), content: textOfParts(data.content) });
}

export const encodeMessage = (message: BaseMessage): string =>
  JSON.stringify(plainMessage(message));

/** Constructs no other class. @throws MemoryError `DATABASE_ERROR` */
export function decodeMessage(serialised: string): BaseMessage {
  const value = attempt((): unknown => JSON.parse(serialised));
  const { type, data } = isJsonObject(value) ? value : {};
  if (typeof type === "string" && isType(type) && isJsonObject(data)) {
    return messageOf({ type, data: dataOf(data) });
  }
  throw new MemoryError(
    "DATABASE_ERROR",
    "A message of the transcript cannot be read: its content was altered.",
  );
}

const typesByRole = {
  user: "human",
  assistant: "ai",
  system: "system",
  tool: "tool",
  other: "generic",
} as const;

export function storedMessage(stored: Omit<TranscriptMessage, "seq">): BaseMessage {
  const { messageId: id, role, actor, text: content } = stored;
  const message = attempt(() => decodeMessage(stored.serialised));
  if (message) return Object.assign(message, { id: message.id || id });
  const data: JsonObject = { id, content };
  if (actor !== null) data.name = actor;
  if (role === "other") data.role = role;
  return messageOf({ type: typesByRole[role], data });
}

function dataOf(holder: object): JsonObject {
  const read = jsonReader();
  const entries = Object.entries(forms).flatMap(([name, form]) => {
    const value = form(read(propertyOf(holder, name)));
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function typeOf(message: BaseMessage): PlainMessage["type"] {
  const type = attempt(() => message.getType());
  return type !== undefined && isType(type) ? type : "generic";
}

const isType = (type: string): type is PlainMessage["type"] => Object.hasOwn(types, type);
