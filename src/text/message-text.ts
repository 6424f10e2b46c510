import type { BaseMessage } from "@langchain/core/messages";
import { jsonReader } from "./plain-json.js";

/** Who speaks in a message, in the words of chat APIs. */
export type MessageRole = "user" | "assistant" | "system" | "tool" | "other";

/** One entry of a thread's transcript. */
export interface TranscriptMessage {
  /** 0, 1, 2… in its thread, without gaps. */
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  /** The speaker's name, where the message carries one (an agent, a person in a group). */
  readonly actor: string | null;
  /** What was said, as plain text. */
  readonly text: string;
  /** The whole message as LangChain writes it. */
  readonly serialised: string;
}

/**
 * What `message` says, as its class tells it; where that fails, since its content is none, the texts of its parts.
 */
export function messageText(message: BaseMessage): string {
  // LangChain would take it apart into blocks and put it together again.
  if (typeof message.content === "string") return message.content;
  try {
    const { text } = message;
    if (typeof text === "string") return text;
  } catch {
    // LangChain reads parts as its own types: a part that is null is enough.
  }
  return textOfParts(message.content);
}

/** The texts among the parts of a message's content, whatever that is. */
export function textOfParts(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) =>
      typeof part === "object" && part !== null ? (part as { text?: unknown }).text : part,
    )
    .filter((text) => typeof text === "string")
    .join("");
}

/** What `message` says, with its tool calls written out. */
export function spokenText(message: BaseMessage): string {
  const calls = "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const lines = [
    messageText(message),
    ...calls.map(
      (call: { name: string; args: unknown }) =>
        `[calls ${call.name} ${JSON.stringify(jsonReader()(call.args))}]`,
    ),
  ];
  return lines.filter((line) => line !== "").join("\n");
}
