import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import { searchText } from "../domain/search-text.js";
import type { MessageRole } from "../domain/transcript-message.js";
import { encodeMessage } from "../store/message-codec.js";
import type { NewMessage } from "../store/record-messages.js";

const roles: Record<string, MessageRole> = {
  human: "user",
  ai: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

/** Roles whose words are searched: tool output and instructions would drown what was said. */
const searched: ReadonlySet<MessageRole> = new Set(["user", "assistant"]);

/**
 * `message` as a transcript entry. A message without an id gets a fresh one, and so is new each time.
 *
 * @param language the text search configuration that `terms` are prepared for.
 */
export async function toNewMessage(message: BaseMessage, language: string): Promise<NewMessage> {
  const role = roles[message.getType()] ?? "other";
  return {
    messageId: message.id ?? randomUUID(),
    role,
    actor: message.name ?? null,
    text: plainText(message),
    serialised: await encodeMessage(message),
    terms: searched.has(role) ? searchText(message.text, language) : "",
  };
}

/** What a message says, with its tool calls written out; without the NUL characters PostgreSQL refuses. */
function plainText(message: BaseMessage): string {
  const calls = "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const lines = [
    message.text,
    ...calls.map(
      (call: { name: string; args: unknown }) => `[calls ${call.name} ${JSON.stringify(call.args)}]`,
    ),
  ];
  return lines
    .filter((line) => line !== "")
    .join("\n")
    .replaceAll("\u0000", "");
}
