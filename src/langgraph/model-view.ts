import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { parseInput } from "../domain/parse-input.js";
import { memoryBlock } from "../recall/memory-block.js";
import type { Recalled } from "../recall/recall.js";
import { asRecalled, memoryBlockId } from "../recall/recalled-mark.js";
import { contextPrefix } from "../recall/said-message.js";
import { shownMessages } from "./shown-messages.js";

export const injectAsSchema = z.enum(["system", "user"]);

/** Where the memory block goes: a system message, or in front of the current user message. */
export type InjectAs = z.output<typeof injectAsSchema>;

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
  parseInput(injectAsSchema, injectAs, "`injectAs`");
  if (!recalled) return [...state];
  const { instructions, talk } = shownMessages(state, recalled);
  const block = memoryBlock(recalled);
  if (block === null) return [...instructions, ...talk];

  const current = talk.findLastIndex((message) => message.getType() === "human");
  if (injectAs === "system" || current < 0) {
    return [...instructions, asRecalled(new SystemMessage({ content: block, id: blockId(talk) })), ...talk];
  }
  return [...instructions, ...talk.with(current, withContext(talk[current] as BaseMessage, recalled))];
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
  );
}
