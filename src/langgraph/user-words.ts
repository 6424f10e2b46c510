import type { BaseMessage } from "@langchain/core/messages";
import { messageText } from "../domain/message-text.js";
import { isRecalled } from "../recall/recalled-mark.js";
import { withoutContext } from "../recall/said-message.js";
import { isDelegated } from "./subagent-task.js";

/** A user's message. */
interface UserWords {
  readonly messageId?: string | undefined;
  readonly text: string;
}

/**
 * What the user wrote at the beginning of the round under way: the last human messages of a graph's state.
 *
 * What memory put there, and tasks that one agent gave another, are nobody's words.
 */
export function currentUserWords(messages: readonly BaseMessage[]): UserWords[] {
  const last = messages.findLastIndex((message) => message.getType() === "human");
  const before = messages.findLastIndex((message, index) => index < last && message.getType() !== "human");
  return messages.slice(before + 1, last + 1).flatMap((message, index, round) => {
    const text = ownText(message, index === round.length - 1);
    return text === null ? [] : [{ messageId: message.id, text }];
  });
}

/** Null where the message is not of this round, or not the user's. */
function ownText(message: BaseMessage, isCurrent: boolean): string | null {
  if (isDelegated(message)) return null;
  const text = messageText(message);
  const own = withoutContext(text);
  // Only the current message has memory in front of it; others so marked come from the transcript.
  if (isRecalled(message) && !(isCurrent && own !== text)) return null;
  // After a restart the mark is not known any more, and the context no less memory's.
  return own;
}
