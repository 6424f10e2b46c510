import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { conversationContext } from "../../conversation/conversation-context.rule.js";
import { asRecalled, memoryBlockId } from "../../conversation/recalled-mark.js";
import { contextPrefix, memoryBlock, saidInState } from "../../rounds/memory-block.js";
import type { Recalled } from "../../rounds/recalled.js";
import { messageText } from "../../text/message-text.js";
import { parseInput } from "../../text/parse-input.js";
import { type InjectAs, injectAsSchema } from "../run/node-options.js";
import { fromState } from "../run/state-fields.js";

/**
 * The messages an agent is shown: system messages, the memory block, the recent messages and what the summary does not
 * cover.
 *
 * @param state the messages in the graph's state, the current one last.
 * @param recalled what the recall node left in the state. Without it the messages come back as they are.
 * @param injectAs "user" changes a copy of the current user message, never the message in the state.
 *   Without a user message, the block is a system message. @default "system"
 */
export function modelView(
  state: readonly BaseMessage[],
  recalled: Recalled | null | undefined,
  injectAs: InjectAs = "system",
): BaseMessage[] {
  parseInput(injectAsSchema, injectAs, "`injectAs`");
  const known = fromState(recalled);
  if (!known) return [...state];
  const { instructions, talk } = shownMessages(state, known);
  const block = memoryBlock(known);
  if (block === null) return [...instructions, ...talk];

  const current = talk.findLastIndex((message) => message.getType() === "human");
  if (injectAs === "system" || current < 0) {
    return [...instructions, asRecalled(new SystemMessage({ content: block, id: blockId(talk) })), ...talk];
  }
  return [...instructions, ...talk.with(current, withContext(talk[current] as BaseMessage, known))];
}

/** A client's message of the block's name is not to be replaced by it where an agent merges messages by id. */
function blockId(talk: readonly BaseMessage[]): string {
  const taken = talk.some((message) => message.id === memoryBlockId);
  return taken ? `${memoryBlockId}.${talk.length}.block` : memoryBlockId;
}

/** A copy of `message` with what memory knows in front. */
function withContext(message: BaseMessage, recalled: Recalled): HumanMessage {
  const prefix = contextPrefix(recalled);
  const content =
    typeof message.content === "string"
      ? `${prefix}${message.content}`
      : [{ type: "text" as const, text: prefix }, ...message.content];
  return asRecalled(
    new HumanMessage({
      content,
      ...(message.id !== undefined && { id: message.id }),
      ...(message.name !== undefined && { name: message.name }),
      additional_kwargs: message.additional_kwargs,
      response_metadata: message.response_metadata,
    }),
    prefix.length,
  );
}

/** What an agent is shown of a conversation beside the memory block. */
interface ShownMessages {
  /** System messages, however old: a summary never stands in for instructions. */
  readonly instructions: BaseMessage[];
  /** The recent messages and what the summary does not cover, the current message last; those not from the state are marked as recalled. */
  readonly talk: BaseMessage[];
}

/**
 * The messages of `state` and of the transcript that are to be shown.
 *
 * What an earlier turn was shown and a node returned is out of date, and left out.
 */
function shownMessages(state: readonly BaseMessage[], recalled: Recalled): ShownMessages {
  const said = state.flatMap((message) => saidInState(message, recalled) ?? []);
  const end = (recalled.leftOut ?? recalled.summary)?.endMessageId ?? null;
  // System messages stay in a bounded state, so they say nothing about where state and transcript meet.
  const talkOf = (messages: readonly BaseMessage[]) =>
    messages.filter((message) => !isSystem(message) || message.id === end);
  const talk = conversationContext({
    gap: talkOf(recalled.gap),
    endId: end,
    recent: recalled.recent,
    lastRound: talkOf(recalled.lastRound),
    state: talkOf(said),
    idOf: (message) => message.id,
    opensRound: (message) => message.getType() === "human",
  });
  const shortened = new Map(recalled.recent.map((message) => [message.id, message]));
  for (const id of shortened.keys()) if (!recalled.shortened.includes(id ?? "")) shortened.delete(id);
  const saidMessages = new Set(said);
  const own = said.filter(isSystem);
  // A caller without a checkpointer sends the same instructions with every message.
  const known = new Set(own.map((message) => messageText(message)));
  const recorded = new Map(recalled.gap.filter(isSystem).map((message) => [messageText(message), message]));
  const others = [...recorded.values()].filter((message) => !known.has(messageText(message)));
  return {
    instructions: [...own, ...others.map(asRecalled)],
    talk: talk
      .map((message) => shortened.get(message.id) ?? message)
      .map((message) => (saidMessages.has(message) ? message : asRecalled(message))),
  };
}

function isSystem(message: BaseMessage): boolean {
  return message.getType() === "system";
}
