import type { BaseMessage } from "@langchain/core/messages";
import { attachmentOf } from "./attachments.js";
import { messageText } from "./message-text.js";

const reminderTag = /(<\/?system-reminder(?:\s[^<>]{0,200})?>)/i;

/**
 * Removes the contents of `<system-reminder>` tags; keeps the whole text if a tag is not closed.
 */
export function withoutReminders(text: string): string {
  let depth = 0;
  let own = "";
  for (const [index, piece] of text.split(reminderTag).entries()) {
    const closes = piece.startsWith("</");
    if (index % 2 === 1 && (depth > 0 || !closes)) depth += closes ? -1 : 1;
    else if (depth === 0) own += piece;
  }
  return depth === 0 ? own : text;
}

export function isInserted(message: BaseMessage): boolean {
  if (message.additional_kwargs?.lc_source !== undefined) return true;
  if (message.getType() !== "human") return false;
  const text = messageText(message);
  if (text.trim() === "" || withoutReminders(text).trim() !== "") return false;
  return ![message.content].flat().some((part) => attachmentOf(part));
}

export const opensTurn = (message: BaseMessage): boolean =>
  message.getType() === "human" && !isInserted(message);

export const isOthersSummary = (message: BaseMessage): boolean =>
  message.additional_kwargs?.lc_source === "summarization";
