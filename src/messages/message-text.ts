import type { BaseMessage, MessageContent } from "@langchain/core/messages";
import { attempt, isJsonObject, jsonReader } from "../input/plain-json.js";

export type MessageRole = "user" | "assistant" | "system" | "tool" | "other";

export interface TranscriptMessage {
  /** 0, 1, 2… in its thread, without gaps. */
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly serialised: string;
}

const roles: ReadonlyMap<string, MessageRole> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["system", "system"],
  ["developer", "system"],
  ["tool", "tool"],
  ["function", "tool"],
]);

export const roleOf = (message: BaseMessage): MessageRole =>
  roles.get(message.getType()) ?? "other";

export function messageText(message: BaseMessage): string {
  // Fast path: LangChain would parse it into blocks and join them again.
  if (typeof message.content === "string") return message.content;
  // LangChain fails for a null part, for example.
  const text = attempt((): unknown => message.text);
  return typeof text === "string" ? text : textOfParts(message.content);
}

/** A copy of the same class. */
export const withFields = <Of extends object>(object: Of, fields: object): Of =>
  Object.assign(Object.create(Object.getPrototypeOf(object)), object, fields);

export function contentParts(content: MessageContent) {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text" as const, text: content }];
}

export function textOfParts(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((part: unknown) => (isJsonObject(part) ? part.text : part));
  return texts.filter((text) => typeof text === "string").join("");
}

export function spokenText(message: BaseMessage): string {
  const calls =
    "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const called = calls.map(({ name, args }: { name: string; args: unknown }) => {
    return `[calls ${name} ${JSON.stringify(jsonReader()(args))}]`;
  });
  return [messageText(message), ...called].filter((line) => line !== "").join("\n");
}
