import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import { searchText } from "../domain/search-text.js";
import { isStorable } from "../domain/storable-text.js";
import type { MessageRole } from "../domain/transcript-message.js";
import { MemoryError } from "../errors.js";
import { encodeMessage } from "../store/message-codec.js";
import type { NewMessage } from "../store/record-messages.js";

const roles: ReadonlyMap<string, MessageRole> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["system", "system"],
  ["developer", "system"],
  ["tool", "tool"],
  ["function", "tool"],
]);

/** Roles whose words are searched: tool output and instructions would drown what was said. */
const searched: ReadonlySet<MessageRole> = new Set(["user", "assistant"]);

/** Longest message id in bytes: an index entry holds at most 2,704, and providers' ids have some dozens. */
const longestIdBytes = 1_000;

/**
 * `message` as a transcript entry. A message without an id gets a fresh one, and so is new each time.
 *
 * @throws MemoryError `INVALID_INPUT` for an id that is too long or that PostgreSQL cannot hold.
 * @param language the text search configuration that `terms` are prepared for.
 */
export async function toNewMessage(message: BaseMessage, language: string): Promise<NewMessage> {
  const role = roles.get(message.getType()) ?? "other";
  return {
    messageId: messageId(message),
    role,
    actor: message.name === undefined ? null : storable(message.name),
    text: plainText(message),
    serialised: await encodeMessage(message),
    actorTerms: searchText(message.name ?? "", language),
    terms: searched.has(role) ? searchText(message.text, language) : "",
  };
}

function messageId({ id }: BaseMessage): string {
  if (id === undefined || id === "") return randomUUID();
  if (isStorable(id) && Buffer.byteLength(id) <= longestIdBytes) return id;
  throw new MemoryError(
    "INVALID_INPUT",
    `A message id must be text of at most ${longestIdBytes} bytes without NUL characters or halves of surrogate ` +
      `pairs: ${JSON.stringify(id.slice(0, 40))} is not.`,
  );
}

/** Without the NUL characters PostgreSQL refuses; the serialised message keeps them. */
const storable = (text: string) => text.replaceAll("\u0000", "");

/** What a message says, with its tool calls written out. */
function plainText(message: BaseMessage): string {
  const calls = "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const lines = [
    message.text,
    ...calls.map(
      (call: { name: string; args: unknown }) => `[calls ${call.name} ${JSON.stringify(call.args)}]`,
    ),
  ];
  return storable(lines.filter((line) => line !== "").join("\n"));
}
