import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { memoryBlock } from "../recall/memory-block.js";
import type { Recalled } from "../recall/recall.js";
import { recalledMark } from "./recalled-mark.js";
import { shownMessages } from "./shown-messages.js";

/** Where the memory block goes: a system message, or in front of the current user message. */
export type InjectAs = "system" | "user";

/** Id of the memory block; the same in every turn, so that a graph that keeps what it was shown keeps one. */
export const memoryBlockId = "mnemograph.memory";

/**
 * The messages an agent is shown: system messages, the memory block, what the summary does not cover.
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
  if (!recalled) return [...state];
  const { instructions, talk } = shownMessages(state, recalled);
  const block = memoryBlock(recalled);
  if (block === null) return [...instructions, ...talk];

  const current = talk.findLastIndex((message) => message.getType() === "human");
  if (injectAs === "system" || current < 0) {
    return [
      ...instructions,
      new SystemMessage({ content: block, id: memoryBlockId, ...recalledMark }),
      ...talk,
    ];
  }
  return [...instructions, ...talk.with(current, withContext(talk[current] as BaseMessage, recalled, block))];
}

/** A copy of `message` with what memory knows in front. */
function withContext(message: BaseMessage, recalled: Recalled, block: string): HumanMessage {
  const isSummaryOnly = memoryBlock({ ...recalled, summary: null }) === null;
  const context = isSummaryOnly ? recalled.summary?.text : block.replace(/^<memory>\n|\n<\/memory>$/g, "");
  // A bracket and an empty line end the context, so it holds none itself.
  const prefix = `[Previous context: ${context?.replace(/\]\s*\n\s*/g, "]\n")}]\n\n`;
  const content =
    typeof message.content === "string"
      ? `${prefix}${message.content}`
      : [{ type: "text" as const, text: prefix }, ...message.content];
  return new HumanMessage({
    content,
    ...(message.id !== undefined && { id: message.id }),
    ...(message.name !== undefined && { name: message.name }),
    additional_kwargs: message.additional_kwargs,
    response_metadata: { ...message.response_metadata, ...recalledMark.response_metadata },
  });
}
