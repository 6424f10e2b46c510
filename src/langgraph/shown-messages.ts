import type { BaseMessage } from "@langchain/core/messages";
import { conversationContext } from "../domain/conversation-context.js";
import { messageText } from "../domain/message-text.js";
import type { Recalled } from "../recall/recall.js";
import { asRecalled } from "../recall/recalled-mark.js";
import { saidInState } from "../recall/said-message.js";

/** What an agent is shown of a conversation beside the memory block. */
export interface ShownMessages {
  /** System messages, however old: a summary never stands in for instructions. */
  readonly instructions: BaseMessage[];
  /** What the summary does not cover, the current message last; those not from the state are marked as recalled. */
  readonly talk: BaseMessage[];
}

/**
 * The messages of `state` and of the transcript that are to be shown.
 *
 * What an earlier turn was shown and a node returned is out of date, and left out.
 */
export function shownMessages(state: readonly BaseMessage[], recalled: Recalled): ShownMessages {
  const said = state.flatMap((message) => saidInState(message, recalled) ?? []);
  const end = recalled.summary?.endMessageId ?? null;
  // System messages stay in a bounded state, so they say nothing about where state and transcript meet.
  const talkOf = (messages: readonly BaseMessage[]) =>
    messages.filter((message) => !isSystem(message) || message.id === end);
  const talk = conversationContext({
    gap: talkOf(recalled.gap),
    summaryEndId: end,
    lastRound: talkOf(recalled.lastRound),
    state: talkOf(said),
    idOf: (message) => message.id,
    opensRound: (message) => message.getType() === "human",
  });
  const held = new Set(said);
  const own = said.filter(isSystem);
  // A caller without a checkpointer sends the same instructions with every message.
  const known = new Set(own.map((message) => messageText(message)));
  const recorded = new Map(recalled.gap.filter(isSystem).map((message) => [messageText(message), message]));
  const others = [...recorded.values()].filter((message) => !known.has(messageText(message)));
  return {
    instructions: [...own, ...others.map(asRecalled)],
    talk: talk.map((message) => (held.has(message) ? message : asRecalled(message))),
  };
}

function isSystem(message: BaseMessage): boolean {
  return message.getType() === "system";
}
