import type { BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { bestSimilarity } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import type { RecallInput } from "../../rounds/recall.js";
import type { Recalled } from "../../rounds/recalled.js";
import type { RecallMode } from "../../search/retrieval-options.js";
import { messageText } from "../../text/message-text.js";
import { type MemoryState, memoryKey, noteShownConsents, streamEvent } from "../run/memory-state.js";
import { checkOptions, continueOnError, type OnError, sharedOptions } from "../run/node-options.js";
import { type RunIdentity, runMode } from "../run/run-identity.js";
import { type ClaimedRun, claimRun } from "./claim-run.js";

/**
 * What memory knows of a thread, for a graph whose state holds `messages`, the current one last.
 *
 * One round trip. A second one when the run continues from an earlier checkpoint: the latest summary then tells
 * of messages that never were in this branch, and an earlier one is chosen that does not.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
async function recallForState(
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

/** How a recall node behaves. */
export interface RecallNodeOptions {
  /** Whether a failed recall ends the turn. @default "continue" */
  readonly onError?: OnError | undefined;
  /** The agent that reads what is recalled: only categories of its allowlist. @default all */
  readonly agent?: string | undefined;
  /** "passive": the turn is remembered and shown no memories. A run's `memory_mode` comes first. @default `retrieval.mode` */
  readonly memoryMode?: RecallMode | undefined;
}

/** What a recall node puts into the state. */
export interface RecalledState extends MemoryState {
  /** Takes out what strangers left in a state that is not kept by `memory.checkpointer()`. */
  messages?: RemoveMessage[];
}

const optionsSchema = sharedOptions.pick({ onError: true, agent: true, memoryMode: true });

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
  return async (
    state: { readonly messages?: readonly BaseMessage[] },
    config: LangGraphRunnableConfig,
  ): Promise<RecalledState> => {
    let removals: ClaimedRun["removals"] = [];
    const recalled = await continueOnError<MemoryState>(
      memory,
      options.onError ?? "continue",
      "recall",
      config,
      async () => {
        const run = await claimRun(memory, state.messages ?? [], config);
        removals = run.removals;
        const mode = runMode(config) ?? options.memoryMode;
        const recalled = await recallForState(memory, run.identity, run.messages, {
          agent: options.agent,
          mode,
        });
        const held = new Set(run.messages.map(({ id }) => id));
        const others = [...recalled.lastRound, ...recalled.gap].filter(({ id }) => !held.has(id));
        // Without a checkpointer nobody has claimed the thread yet.
        if (recalled.lastMessageId === null && !config.configurable?.__pregel_checkpointer) {
          await memory.threads.claim(run.identity);
        }
        noteShownConsents(config, recalled);
        const hits = [...recalled.memories.relevant, ...recalled.memories.episodes];
        streamEvent(config, "recall", "ok", {
          summaryId: recalled.summary?.id ?? null,
          gapMessages: recalled.gap.length,
          hits: hits.length,
          similarity: bestSimilarity(hits),
          changes: recalled.changes.count,
          ...(recalled.memories.timedOut && { detail: "timeout" }),
        });
        return { [memoryKey]: { ...recalled, brought: others.flatMap(({ id }) => id ?? []) } };
      },
      { [memoryKey]: null },
    );
    return removals.length === 0 ? recalled : { ...recalled, messages: [...removals] };
  };
}
