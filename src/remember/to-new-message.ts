import { createHash, randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import { messageText, spokenText } from "../domain/message-text.js";
import { searchName, searchText } from "../domain/search-text.js";
import { isStorable } from "../domain/storable-text.js";
import type { MessageRole } from "../domain/transcript-message.js";
import { MemoryError } from "../errors.js";
import { encodePlain, messageOf, plainMessage } from "../store/message-codec.js";
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
 * `message` as a transcript entry, whatever is in it. A message without an id gets a fresh one, and so is new each
 * time.
 *
 * @throws MemoryError `INVALID_INPUT` for an id that is too long or that PostgreSQL cannot hold.
 * @param language the text search configuration that `terms` are prepared for.
 */
export function toNewMessage(message: BaseMessage, language: string): NewMessage {
  const plain = plainMessage(message);
  const serialised = encodePlain(plain);
  const kept = messageOf(plain);
  const role = roles.get(kept.getType()) ?? "other";
  return {
    messageId: messageId(kept),
    role,
    actor: kept.name === undefined ? null : storable(kept.name),
    text: storable(spokenText(kept)),
    serialised,
    actorTerms: searchName(kept.name ?? "", language),
    terms: searched.has(role) ? searchText(messageText(kept), language) : "",
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

/**
 * `message`, with a digest of its id where that cannot be kept. In a graph's state ids are clients' to choose, and one
 * that is refused would cost this round and all that come after it.
 */
export function withKeptId(message: BaseMessage): BaseMessage {
  const { id = "" } = message;
  if (isStorable(id) && Buffer.byteLength(id) <= longestIdBytes) return message;
  const copy: BaseMessage = Object.assign(Object.create(Object.getPrototypeOf(message)), message);
  copy.id = `sha256:${createHash("sha256").update(JSON.stringify(id)).digest("hex")}`;
  return copy;
}

/** Without the NUL characters PostgreSQL refuses; the serialised message keeps them. */
const storable = (text: string) => text.replaceAll("\u0000", "");
