import type { BaseMessage } from "@langchain/core/messages";
import { messageText } from "../domain/message-text.js";
import type { Memory } from "../memory.js";
import type { Recalled, RecallInput } from "../recall/recall.js";
import type { RunIdentity } from "./run-identity.js";

/**
 * What memory knows of a thread, for a graph whose state holds `messages`, the current one last.
 *
 * One round trip. A second one when the run continues from an earlier checkpoint: the latest summary then tells
 * of messages that never were in this branch, and an earlier one is chosen that does not.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
export async function recallForState(
  memory: Memory,
  thread: RunIdentity,
  messages: readonly BaseMessage[],
  reader: Pick<RecallInput, "agent" | "mode">,
): Promise<Recalled> {
  // System messages stay in the state however old they are, so they tell nothing about its branch.
  const talk = messages.filter((message) => message.getType() !== "system");
  const current = talk.findLast((message) => message.getType() === "human");
  const query = current && messageText(current);
  const input = { ...thread, ...reader, ...(query !== undefined && { query }) };
  const latest = await memory.recall(input);
  if (fits(latest, talk)) return latest;
  return memory.recall({ ...input, messageIds: talk.flatMap((message) => message.id ?? []) });
}

/** Whether the summary surely is of this branch: it ends in the state, or the state holds nothing that old. */
function fits({ summary, gap }: Recalled, talk: readonly BaseMessage[]): boolean {
  if (!summary || talk.some((message) => message.id === summary.endMessageId)) return true;
  const gapIds = new Set(gap.map((message) => message.id));
  const current = talk.findLastIndex((message) => message.getType() === "human");
  return talk.slice(0, Math.max(current, 0)).every((message) => gapIds.has(message.id));
}
