import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { conversationContext } from "../../conversation/conversation-context.rule.js";
import { asRecalled, memoryBlockId } from "../../conversation/recalled-mark.js";
import { contextPrefix, memoryBlock, saidInState } from "../../rounds/memory-block.js";
import type { Recalled } from "../../rounds/recalled.js";
import { isOthersSummary, opensTurn } from "../../text/inserted-message.js";
import { messageText } from "../../text/message-text.js";
import { parseInput } from "../../text/parse-input.js";
import { type InjectAs, injectAsSchema } from "../run/node-options.js";
import { fromState } from "../run/state-fields.js";

/**
 * The messages that an agent sees: system messages, the memory block, recent messages and those after the summary.
 * @param state the graph's messages, the current one last.
 * @param recalled from the recall node; without it, `state` is returned.
 * @param injectAs "user" changes a copy of the current user message; without one, as "system". @default "system"
 */
export function modelView(
  state: readonly BaseMessage[],
  recalled: Recalled | null | undefined,
  injectAs: InjectAs = "system",
): BaseMessage[] {
  parseInput(injectAsSchema, injectAs, "`injectAs`");
  const found = fromState(recalled);
  if (!found) return [...state];
  // LangChain's summary covers what is omitted.
  const known = state.some(isOthersSummary) ? { ...found, leftOut: null } : found;
  const { instructions, talk } = shownMessages(state, known);
  const block = memoryBlock(known);
  if (block === null) return [...instructions, ...talk];

  const current = talk.findLastIndex(opensTurn);
  if (injectAs === "system" || current < 0)
    return [...instructions, asRecalled(new SystemMessage({ content: block, id: blockId(talk) })), ...talk];
  return [...instructions, ...talk.with(current, withContext(talk[current] as BaseMessage, known))];
}

/** Agents merge messages by id, so the block must not replace a client's message. */
function blockId(talk: readonly BaseMessage[]): string {
  const taken = talk.some((message) => message.id === memoryBlockId);
  return taken ? `${memoryBlockId}.${talk.length}.block` : memoryBlockId;
}

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

/** Omits what an earlier turn was shown and a node returned. */
function shownMessages(state: readonly BaseMessage[], recalled: Recalled) {
  const said = state.flatMap((message) => saidInState(message, recalled) ?? []);
  const end = (recalled.leftOut ?? recalled.summary)?.endMessageId ?? null;
  // A bounded state keeps all system messages, however old.
  const talkOf = (messages: readonly BaseMessage[]) =>
    messages.filter((message) => !isSystem(message) || message.id === end);
  const othersSummary = said.findLastIndex(isOthersSummary);
  const talk =
    othersSummary >= 0
      ? talkOf(said.slice(othersSummary))
      : conversationContext({
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
  // A caller without a checkpointer repeats the instructions with every message.
  const known = new Set(own.map((message) => messageText(message)));
  const recorded = new Map(recalled.gap.filter(isSystem).map((message) => [messageText(message), message]));
  const others = [...recorded.values()].filter((message) => !known.has(messageText(message)));
  return {
    // However old: a summary never replaces instructions.
    instructions: [...own, ...others.map(asRecalled)],
    talk: talk
      .map((message) => shortened.get(message.id) ?? message)
      .map((message) => (saidMessages.has(message) ? message : asRecalled(message))),
  };
}

function isSystem(message: BaseMessage): boolean {
  return message.getType() === "system";
}
