import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import { messageText, spokenText } from "../domain/message-text.js";
import { searchText } from "../domain/search-text.js";
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

/** Most different words of a message that are searched: a book has no more. */
const mostTerms = 20_000;
/** Bytes of them: PostgreSQL holds 1 MB of words in one value, and takes compound words apart. */
const mostTermBytes = 300_000;
/** Most words of a speaker's name that are searched. */
const mostNames = 16;
/** Longest of them in bytes: each is an index entry, of which all parts have 2,704. */
const longestNameBytes = 200;

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
  const names = wordsWithin(searchText(kept.name ?? "", language), mostNames, mostNames * longestNameBytes);
  const terms = searched.has(role) ? searchText(messageText(kept), language) : "";
  return {
    messageId: messageId(kept),
    role,
    actor: kept.name === undefined ? null : storable(kept.name),
    text: storable(spokenText(kept)),
    serialised,
    actorTerms: names.filter((name) => Buffer.byteLength(name) <= longestNameBytes).join(" "),
    // Few words are left as they are: what stands between them tells compounds and addresses.
    terms: terms.length * 3 <= mostTermBytes ? terms : wordsWithin(terms, mostTerms, mostTermBytes).join(" "),
  };
}

/** The words of `terms` up to where there are more different ones, or they have more bytes, than `most` and `mostBytes`. */
function wordsWithin(terms: string, most: number, mostBytes: number): string[] {
  const kept: string[] = [];
  const different = new Set<string>();
  let bytes = 0;
  for (const [word] of terms.matchAll(/\S+/g)) {
    if (!different.has(word)) bytes += Buffer.byteLength(word);
    different.add(word);
    if (different.size > most || bytes > mostBytes) break;
    kept.push(word);
  }
  return kept;
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
