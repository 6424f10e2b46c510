import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { bestSimilarity } from "../domain/best-similarity.js";
import type { Memory } from "../memory.js";
import { type MemoryState, memoryKey } from "./memory-state.js";
import { continueOnError, type OnError } from "./on-error.js";
import { recallForState } from "./recall-for-state.js";
import { runIdentity } from "./run-identity.js";
import { noteShownConsents } from "./shown-consents.js";
import { streamEvent } from "./stream-event.js";

/** How a recall node behaves. */
export interface RecallNodeOptions {
  /** Whether a failed recall ends the turn. @default "continue" */
  readonly onError?: OnError;
  /** The agent that reads what is recalled: only categories of its allowlist. @default all */
  readonly agent?: string;
}

/**
 * A node that puts what memory knows of the run's thread into the state, for `modelView` and the remember node.
 *
 * One round trip, two after time travel. Place it before the agent.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `THREAD_REQUIRED`, `THREAD_FORBIDDEN` whatever `onError` says.
 */
export function recallNode(memory: Memory, options: RecallNodeOptions = {}) {
  return async (
    state: { readonly messages?: readonly BaseMessage[] },
    config: LangGraphRunnableConfig,
  ): Promise<MemoryState> => {
    const identity = runIdentity(config);
    return continueOnError<MemoryState>(
      memory,
      options.onError ?? "continue",
      "recall",
      config,
      async () => {
        const recalled = await recallForState(memory, identity, state.messages ?? [], options.agent);
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
        return { [memoryKey]: recalled };
      },
      { [memoryKey]: null },
    );
  };
}
