import type { BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { bestSimilarity } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import type { RecallInput } from "../../rounds/recall.js";
import type { Recalled } from "../../rounds/recalled.js";
import { messageText } from "../../text/message-text.js";
import { checkOptions, continueOnError, type RoundOptions, roundOptions } from "../run/node-options.js";
import { runMode } from "../run/run-identity.js";
import { type MemoryState, memoryKey, noteShownConsents, streamEvent } from "../run/run-state.js";
import { type ClaimedRun, claimRun } from "./claim-run.js";

/** How a recall node behaves. */
export interface RecallNodeOptions extends Pick<RoundOptions, "onError" | "agent" | "memoryMode"> {}

const optionsSchema = roundOptions.pick({ onError: true, agent: true, memoryMode: true });

/** What a recall node puts into the state. */
export interface RecalledState extends MemoryState {
  /** Takes out what strangers left in a state that is not kept by `memory.checkpointer()`. */
  messages?: RemoveMessage[];
}

/**
 * A node that puts what memory knows of the run's thread into the state, for `modelView` and the remember node.
 *
 * The thread is the run's owner's from then on, if it was nobody's. One round trip, two after time travel; one more
 * with another checkpointer than `memory.checkpointer()`, or with none on a new thread. Place it before the agent.
 *
 * @throws MemoryError `INVALID_INPUT` for options that there are not; in the run `SCOPE_REQUIRED`, `THREAD_REQUIRED`,
 *   `THREAD_FORBIDDEN` whatever `onError` says.
 */
export function recallNode(memory: Memory, options: RecallNodeOptions = {}) {
  checkOptions(memory, optionsSchema, options, "recallNode");
  return recalling(memory, options);
}

/** The same node, of a way in that has checked its options. */
export function recalling(memory: Memory, { onError, agent, memoryMode }: RecallNodeOptions) {
  return async (
    state: { readonly messages?: readonly BaseMessage[] },
    config: LangGraphRunnableConfig,
  ): Promise<RecalledState> => {
    const update: RecalledState = { [memoryKey]: null };
    await continueOnError(memory, { node: "recall", onError }, config, async () => {
      const run = await claimRun(memory, state.messages ?? [], config);
      if (run.removals.length > 0) update.messages = [...run.removals];
      const recalled = await recallForState(memory, run, { agent, mode: runMode(config) ?? memoryMode });
      // Without a checkpointer nobody has claimed the thread yet.
      if (recalled.lastMessageId === null && !config.configurable?.__pregel_checkpointer) {
        await memory.threads.claim(run.identity);
      }
      noteShownConsents(config, recalled);
      streamRecalled(config, recalled);
      update[memoryKey] = { ...recalled, brought: broughtTo(run.messages, recalled) };
    });
    return update;
  };
}

/**
 * What memory knows of a thread, for a graph whose state holds the run's messages, the current one last.
 *
 * One round trip. A second one when the run continues from an earlier checkpoint: the latest summary then tells
 * of messages that never were in this branch, and an earlier one is chosen that does not.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
async function recallForState(
  memory: Memory,
  { identity, messages }: ClaimedRun,
  reader: Pick<RecallInput, "agent" | "mode">,
): Promise<Recalled> {
  // System messages stay in the state however old they are, so they tell nothing about its branch.
  const talk = messages.filter((message) => message.getType() !== "system");
  const current = talk.findLast((message) => message.getType() === "human");
  const query = current && messageText(current);
  const input = { ...identity, ...reader, ...(query !== undefined && { query }) };
  const latest = await memory.recall(input);
  if (fits(latest, talk)) return latest;
  return memory.recall({ ...input, messageIds: talk.flatMap((message) => message.id ?? []) });
}

/** Whether the summary, or what is left out after it, surely is of this branch: it ends in the state, or the state holds nothing that old. */
function fits({ summary, leftOut, gap }: Recalled, talk: readonly BaseMessage[]): boolean {
  const end = leftOut ?? summary;
  if (!end || talk.some((message) => message.id === end.endMessageId)) return true;
  const gapIds = new Set(gap.map((message) => message.id));
  const current = talk.findLastIndex((message) => message.getType() === "human");
  return talk.slice(0, Math.max(current, 0)).every((message) => gapIds.has(message.id));
}

/** Ids of the recalled messages that the state does not hold. */
function broughtTo(state: readonly BaseMessage[], { recent, lastRound, gap }: Recalled): string[] {
  const held = new Set(state.map(({ id }) => id));
  return [...recent, ...lastRound, ...gap].flatMap(({ id }) =>
    id === undefined || held.has(id) ? [] : [id],
  );
}

function streamRecalled(
  config: LangGraphRunnableConfig,
  { summary, recent, gap, leftOut, memories, changes }: Recalled,
): void {
  const hits = [...memories.relevant, ...memories.episodes];
  streamEvent(config, "recall", "ok", {
    ...{ summaryId: summary?.id ?? null, recentMessages: recent.length, gapMessages: gap.length },
    ...{ leftOut: leftOut?.messages ?? 0, changes: changes.count },
    ...{ hits: hits.length, similarity: bestSimilarity(hits) },
    ...(memories.timedOut && { detail: "timeout" }),
  });
}
