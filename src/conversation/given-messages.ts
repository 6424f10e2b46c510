import { randomUUID } from "node:crypto";
import {
  type BaseMessage,
  type BaseMessageLike,
  coerceMessageLikeToMessage,
  isBaseMessage,
} from "@langchain/core/messages";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { withFields } from "../text/message-text.js";
import { saidMessage } from "./recalled-mark.js";

export const messageListSchema = z.custom<readonly BaseMessageLike[]>(
  Array.isArray,
  "must be a list of messages",
);

/** Ids for frozen messages and callers' plain objects. */
const idsOfOthers = new WeakMap<object, string>();

/**
 * `given` without recalled messages and removals. The same object keeps its id.
 * @throws MemoryError `INVALID_INPUT`
 */
export function givenMessages(given: readonly BaseMessageLike[]): BaseMessage[] {
  if (!Array.isArray(given))
    throw new MemoryError("INVALID_INPUT", "`messages` must be a list of messages.");
  return given.flatMap((each: BaseMessageLike, index) => {
    const message = asMessage(each, index);
    return message.getType() === "remove" ? [] : (saidMessage(message) ?? []);
  });
}

function asMessage(given: BaseMessageLike, index: number): BaseMessage {
  if (isBaseMessage(given)) return withId(given, given);
  try {
    if (
      typeof given === "object" &&
      !Array.isArray(given) &&
      !("content" in given || "kwargs" in given)
    )
      throw new TypeError("it has no content");
    const message = coerceMessageLikeToMessage(given);
    return typeof given === "object" ? withId(message, given) : withId(message, message);
  } catch (cause) {
    throw new MemoryError(
      "INVALID_INPUT",
      `messages[${index}] is no message: give a message of LangChain's or { role, content }, with one of the roles ` +
        '"user", "assistant", "system", "developer" and "tool" (and a tool_call_id for a tool\'s).',
      { cause },
    );
  }
}

function withId(message: BaseMessage, given: object): BaseMessage {
  if (message.id !== undefined && message.id !== null && message.id !== "") return message;
  const id = idsOfOthers.get(given) ?? randomUUID();
  if (message === given && !Object.isFrozen(message)) {
    message.id = id;
    if (message.lc_kwargs && !Object.isFrozen(message.lc_kwargs)) message.lc_kwargs.id = id;
    return message;
  }
  idsOfOthers.set(given, id);
  return withFields(message, { id });
}
