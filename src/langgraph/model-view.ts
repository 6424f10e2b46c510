import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { conversationContext } from "../domain/conversation-context.js";
import { memoryBlock } from "../recall/memory-block.js";
import type { Recalled } from "../recall/recall.js";
import { recalledMark } from "./recalled-mark.js";

/** Where the memory block goes: a system message, or in front of the current user message. */
export type InjectAs = "system" | "user";

/**
 * The messages an agent is shown: system messages, the memory block, what the summary does not cover.
 *
 * @param state the messages in the graph's state, the current one last.
 */
export function modelView(
  state: readonly BaseMessage[],
  recalled: Recalled,
  injectAs: InjectAs,
): BaseMessage[] {
  const body = conversationContext({
    gap: recalled.gap,
    summaryEndId: recalled.summary?.endMessageId ?? null,
    state,
    idOf: (message) => message.id,
  });
  const isSystem = (message: BaseMessage) => message.getType() === "system";
  // Instructions hold for the whole conversation, however old: a summary never stands in for them.
  const system = [
    ...state.filter(isSystem),
    ...body.filter((message) => isSystem(message) && !state.includes(message)),
  ];
  const talk = body.filter((message) => !isSystem(message));
  const block = memoryBlock(recalled);
  if (block === null) return [...system, ...talk];
  if (injectAs === "system")
    return [...system, new SystemMessage({ content: block, ...recalledMark }), ...talk];

  const current = talk.findLastIndex((message) => message.getType() === "human");
  const prefix = `[Previous context: ${recalled.summary?.text}]\n\n`;
  return [
    ...system,
    ...talk.map((message, index) => (index === current ? withPrefix(message, prefix) : message)),
  ];
}

function withPrefix(message: BaseMessage, prefix: string): HumanMessage {
  const content =
    typeof message.content === "string"
      ? `${prefix}${message.content}`
      : [{ type: "text" as const, text: prefix }, ...message.content];
  return new HumanMessage({
    content,
    ...(message.id !== undefined && { id: message.id }),
    ...(message.name !== undefined && { name: message.name }),
    additional_kwargs: message.additional_kwargs,
    ...recalledMark,
  });
}
