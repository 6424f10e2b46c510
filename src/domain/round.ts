import type { MessageRole } from "./transcript-message.js";

/**
 * The seqs at which a round starts, ascending: every user message opens one, with all that answers it.
 *
 * What comes before the first user message (a system prompt, a greeting) belongs to no round.
 */
export function roundStarts(messages: readonly { seq: number; role: MessageRole }[]): number[] {
  return messages.filter((message) => message.role === "user").map((message) => message.seq);
}

/** Longest round that is shown again after it was summarised; of a longer one, which an agent alone made, the question. */
export const mostRoundMessages = 50;
