import type { BaseMessage } from "@langchain/core/messages";
import { wordsCheck, wordsOf } from "../conversation/message-words.js";
import { saidMessage } from "../conversation/recalled-mark.js";
import { inTime } from "../deadline.js";
import type { Redactor } from "../text/redactor.js";
import { isStorable } from "../text/storable-text.js";

const mostRedactingMs = 1_000;

/**
 * The messages in the caller's state by id, and what users and assistants say in them: without it, a
 * run's rewriting cannot be told from an edit. Checksums are of that, redacted as the transcript's
 * words are; null where unknown.
 */
export async function readHeld(redactor: Redactor, state: readonly BaseMessage[]) {
  const held = new Map<string, BaseMessage>();
  for (const message of state) if (message.id) held.set(message.id, message);
  const words = new Map<string, string>();
  for (const [id, message] of held) {
    const own = saidMessage(message);
    const said = own && wordsOf(own);
    if (typeof said === "string") words.set(id, said);
  }
  const heldIds = [...held.keys()].filter(isStorable);
  const checks = heldIds.map((id) => {
    const said = words.get(id);
    return said === undefined ? null : wordsCheck(redactor, said);
  });
  // Without an answer in time edits are seen in a later turn: recall waits for no redaction.
  const unknown = () => heldIds.map(() => null);
  const late = () => new Error("late");
  const heldChecks = await inTime(mostRedactingMs, Promise.all(checks), late).catch(unknown);
  return { held, words, heldIds, heldChecks };
}
