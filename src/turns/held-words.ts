import type { BaseMessage } from "@langchain/core/messages";
import { wordsCheck, wordsOf } from "../conversation/message-words.js";
import { saidMessage } from "../conversation/recalled-mark.js";
import { inTime } from "../deadline.js";
import type { Redactor } from "../text/redactor.js";
import { isStorable } from "../text/storable-text.js";

/**
 * What users and assistants say in the caller's state, by message id: without it, a run's rewriting
 * cannot be told from an edit.
 */
export function heldWords(held: ReadonlyMap<string, BaseMessage>): ReadonlyMap<string, string> {
  const said = [...held].flatMap(([id, message]) => {
    const own = saidMessage(message);
    const words = own && wordsOf(own);
    return typeof words === "string" ? [[id, words] as const] : [];
  });
  return new Map(said);
}

const mostRedactingMs = 1_000;

/** Of `words`, redacted as the transcript's are; null where unknown. */
export async function heldChecks(
  redactor: Redactor,
  held: ReadonlyMap<string, BaseMessage>,
  words: ReadonlyMap<string, string>,
) {
  const heldIds = [...held.keys()].filter(isStorable);
  const checks = heldIds.map((id) => {
    const said = words.get(id);
    return said === undefined ? null : wordsCheck(redactor, said);
  });
  // Without an answer in time edits are seen in a later turn: recall waits for no redaction.
  const unknown = () => heldIds.map(() => null);
  const late = () => new Error("late");
  return {
    heldIds,
    heldChecks: await inTime(mostRedactingMs, Promise.all(checks), late).catch(unknown),
  };
}
