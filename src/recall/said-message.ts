import type { BaseMessage, MessageContent } from "@langchain/core/messages";
import { messageText } from "../domain/message-text.js";
import { memoryPreface, previousContext } from "./memory-block.js";
import type { Recalled } from "./recall.js";
import { bearsMark, isRecalled } from "./recalled-mark.js";

/** What memory puts in front of a user's message. A bracket and an empty line end it, so it holds none itself. */
export function contextPrefix(recalled: Recalled): string {
  return `[Previous context: ${previousContext(recalled).replace(/\]\s*\n\s*/g, "]\n")}]\n\n`;
}

/** What memory has put in front of a user's words, by whatever process: a context, or a whole block. */
const injected = /^(?:\[Previous context: [\s\S]*?\]\n\n|<memory>\n[\s\S]*?\n<\/memory>(?:\s*\n|$))/;

/** `text` without what memory put in front of it. What a user says about memory blocks stays. */
export function withoutContext(text: string): string {
  let rest = text;
  for (let found = injected.exec(rest); found; found = injected.exec(rest))
    rest = rest.slice(found[0].length);
  return rest;
}

/** Instructions without a memory block among them. */
function withoutBlocks(text: string): string {
  return text.replace(/\n*<memory>\n[\s\S]*?\n<\/memory>/g, (block) =>
    block.includes(memoryPreface) ? "" : block,
  );
}

/** Whose words memory may have been put into, and how it is taken out. */
const ownWords: ReadonlyMap<string, (text: string) => string> = new Map([
  ["human", withoutContext],
  ["system", withoutBlocks],
]);

/**
 * What was said of `message`: a user's without the memory in front of it, instructions without the memory block; null
 * for what was recalled.
 *
 * A copy where something is left out, under the same id.
 */
export function saidMessage(message: BaseMessage): BaseMessage | null {
  const own = ownContent(message.content, ownWords.get(message.getType()));
  if (own === null) return isRecalled(message) ? null : message;
  if (isEmpty(own)) return null;
  const { mnemograph: _mark, ...response_metadata } = message.response_metadata ?? {};
  const copy: BaseMessage = Object.assign(Object.create(Object.getPrototypeOf(message)), message);
  return Object.assign(copy, { content: own, response_metadata });
}

/**
 * The same for a message in a graph's state; null also for one of the transcript that a node put there. A user's words are changed only where memory was surely put into them: they
 * bear a mark, or begin with what this round was shown.
 */
export function saidInState(message: BaseMessage, recalled: Recalled | null | undefined): BaseMessage | null {
  if (message.id !== undefined && recalled?.brought?.includes(message.id)) return null;
  const isUsers = message.getType() === "human" && !bearsMark(message);
  if (isUsers && !(recalled && messageText(message).startsWith(contextPrefix(recalled)))) return message;
  return saidMessage(message);
}

/** Content without the memory in it, by `words`; null where there is none. */
function ownContent(
  content: MessageContent,
  words: ((text: string) => string) | undefined,
): MessageContent | null {
  if (words === undefined) return null;
  if (typeof content === "string") {
    const own = words(content);
    return own === content ? null : own;
  }
  if (!Array.isArray(content)) return null;
  const [first, ...others] = content;
  const text: unknown = first && "text" in first ? first.text : undefined;
  if (typeof text !== "string") return null;
  const own = words(text);
  if (own === text) return null;
  return own === "" ? others : ([{ ...first, text: own }, ...others] as MessageContent);
}

function isEmpty(content: MessageContent): boolean {
  return typeof content === "string" ? content.trim() === "" : content.length === 0;
}
