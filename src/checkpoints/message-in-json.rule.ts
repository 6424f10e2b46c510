import { isJsonObject, type Json, type JsonObject } from "../input/plain-json.js";

/** A message of a state: which one, and what it says from now on; null: it is taken out. */
export interface MessageChange {
  readonly messageId: string;
  readonly text: string | null;
}

/**
 * A stored value of a state with `change` in all its lists of messages, at any depth; undefined if
 * it lacks the message. Outside of a list a message cannot be taken out, and is emptied.
 */
export function withMessageChanged(value: Json, change: MessageChange): Json | undefined {
  let isChanged = false;
  const within = (inner: Json): Json => {
    if (Array.isArray(inner)) return inner.filter((item) => !isTakenOut(item)).map(within);
    if (!isJsonObject(inner)) return inner;
    if (!isMessage(inner, change.messageId))
      return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, within(each)]));
    isChanged = true;
    return withText(inner, change.text ?? "");
  };
  const isTakenOut = (item: Json): boolean => {
    const isGone = change.text === null && isJsonObject(item) && isMessage(item, change.messageId);
    isChanged ||= isGone;
    return isGone;
  };
  const next = within(value);
  return isChanged ? next : undefined;
}

/** In LangChain's serialised or stored form, or as a plain object. */
function isMessage(value: JsonObject, id: string): boolean {
  const holders = [value, value.kwargs, value.data].filter(isJsonObject);
  return holders.some((fields) => fields.id === id && "content" in fields);
}

/** Without what providers keep of the words beside the content. */
function withText(message: JsonObject, content: string): JsonObject {
  const holder = (["kwargs", "data"] as const).find((name) => isJsonObject(message[name]));
  if (holder === undefined) return { ...message, content };
  return { ...message, [holder]: { ...(message[holder] as JsonObject), content } };
}
