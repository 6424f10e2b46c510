import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Memory } from "../memory.js";
import { type MemoryState, memoryKey } from "./memory-state.js";
import { continueOnError, type OnError } from "./on-error.js";
import { runIdentity } from "./run-identity.js";

/** How a recall node behaves. */
export interface RecallNodeOptions {
  /** Whether a failed recall ends the turn. @default "continue" */
  readonly onError?: OnError;
}

/**
 * A node that puts what memory knows of the run's thread into the state, for `modelView` and the remember node.
 *
 * One round trip. Place it before the agent.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `THREAD_REQUIRED`, `THREAD_FORBIDDEN` whatever `onError` says.
 */
export function recallNode(memory: Memory, options: RecallNodeOptions = {}) {
  return async (_state: unknown, config: LangGraphRunnableConfig): Promise<MemoryState> => {
    const identity = runIdentity(config);
    return continueOnError<MemoryState>(
      memory,
      options.onError ?? "continue",
      "recall",
      config,
      async () => {
        const recalled = await memory.recall(identity);
        config.writer?.({
          type: "memory.recall",
          status: "ok",
          summaryId: recalled.summary?.id ?? null,
          gapMessages: recalled.gap.length,
        });
        return { [memoryKey]: recalled };
      },
      {},
    );
  };
}
