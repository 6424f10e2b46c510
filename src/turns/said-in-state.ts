import type { BaseMessage } from "@langchain/core/messages";
import { hasMark, isMemoryMessage, saidMessage } from "../conversation/recalled-mark.js";
import { messageText } from "../text/message-text.js";
import type { Recalled } from "./recalled.js";

/**
 * What prompts put before a user's words, by epoch: copies of a recall share it. Not in the state,
 * which is checkpointed, out of reach of forgetting.
 */
const prefixes = new WeakMap<Recalled["epoch"], Set<string>>();

export function keepPrefix({ epoch }: Recalled, prefix: string): void {
  const kept = prefixes.get(epoch) ?? new Set();
  prefixes.set(epoch, kept.add(prefix));
}

/**
 * Null for recalled messages. Changes a user's words only after a mark, or after what this turn put
 * before them.
 */
export function saidInState(
  message: BaseMessage,
  recalled: Recalled | null | undefined,
): BaseMessage | null {
  if (message.id !== undefined && recalled?.brought?.includes(message.id)) return null;
  if (message.getType() !== "human" || hasMark(message)) return saidMessage(message);
  if (isMemoryMessage(message) || (recalled && hasPrefix(message, recalled)))
    return saidMessage(message);
  return message;
}

function hasPrefix(message: BaseMessage, { epoch }: Recalled): boolean {
  const kept = [...(prefixes.get(epoch) ?? [])];
  if (kept.length === 0) return false;
  const text = messageText(message);
  return kept.some((prefix) => text.startsWith(prefix));
}
