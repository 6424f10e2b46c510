import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
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

/** `message` as a transcript entry. A message without an id gets a fresh one, and so is new each time. */
export async function toNewMessage(message: BaseMessage): Promise<NewMessage> {
  return {
    messageId: message.id ?? randomUUID(),
    role: roles[message.getType()] ?? "other",
    actor: message.name ?? null,
    text: searchableText(message),
    serialised: await encodeMessage(message),
  };
}

/** What a message says, with its tool calls written out; without the NUL characters PostgreSQL refuses. */
function searchableText(message: BaseMessage): string {
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
