import { createHash } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import { attempt } from "../input/plain-json.js";
import { attachmentOf } from "../messages/attachments.js";
import { messageText, textOfParts } from "../messages/message-text.js";
import type { Redactor } from "../screening/redactor.js";

/** What an edit changes: the text of users and assistants, without files and calls; else null. */
export function wordsOf(message: BaseMessage): string | null {
  if (message.getType() !== "human" && message.getType() !== "ai") return null;
  const content = attempt(() => message.content);
  if (typeof content === "string") return messageText(message);
  if (!Array.isArray(content)) return null;
  return attempt(() => textOfParts(content.filter((part) => attachmentOf(part) === null))) ?? null;
}

const maxChecks = 10_000;

/** Redacting takes long, and a state has the same messages in every turn. */
const checksOf = new WeakMap<Redactor, Map<string, number>>();

/**
 * A checksum of the words as they are stored: it reveals nothing that redaction takes out.
 * @throws MemoryError `REDACTION_FAILED`
 */
export function wordsCheck(redactor: Redactor, words: string): number | Promise<number> {
  return redactor.redacts ? keptCheck(redactor, words) : redactedCheck(words);
}

async function keptCheck(redactor: Redactor, words: string): Promise<number> {
  const key = createHash("sha256").update(words).digest("base64");
  const checks = checksOf.get(redactor) ?? new Map<string, number>();
  checksOf.set(redactor, checks);
  const known = checks.get(key);
  if (known !== undefined) return known;
  const check = redactedCheck(await redactor.text(words));
  if (checks.size === maxChecks) checks.clear();
  checks.set(key, check);
  return check;
}

/** FNV-1a: a third of the time of a digest for short texts, and a state has thousands. */
export function redactedCheck(words: string): number {
  let check = 0x811c9dc5;
  for (let at = 0; at < words.length; at++)
    check = Math.imul(check ^ words.charCodeAt(at), 0x01000193);
  return check | 0;
}
