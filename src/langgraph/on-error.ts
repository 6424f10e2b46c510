import { isGraphBubbleUp, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import type { Memory } from "../memory.js";
import { runIdentity } from "./run-identity.js";
import { streamEvent } from "./stream-event.js";

/** What a failed recall, consent or remember does to the turn. */
export type OnError = "continue" | "throw";

/** Mistakes of the calling program: carrying on would hide them, or cross a scope. */
const neverContinued: ReadonlySet<MemoryErrorCode> = new Set([
  "CLOSED",
  "DATA_DIRECTORY_LOCKED",
  "INVALID_INPUT",
  "PEER_MISSING",
  "PERMISSION_DENIED",
  "SCHEMA_TOO_NEW",
  "SCOPE_REQUIRED",
  "SETUP_REQUIRED",
  "THREAD_FORBIDDEN",
  "THREAD_REQUIRED",
]);

/**
 * `step`'s result. When it fails and the turn may go on: `fallback`, a log line and an event.
 *
 * Interrupts and other control flow of LangGraph always pass.
 */
export async function continueOnError<Result>(
  memory: Memory,
  onError: OnError,
  node: "recall" | "consent" | "remember",
  config: LangGraphRunnableConfig,
  step: () => Promise<Result>,
  fallback: Result,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (isGraphBubbleUp(error) || onError === "throw") throw error;
    if (MemoryError.is(error) && neverContinued.has(error.code)) throw error;
    await memory.reportError({ ...runIdentity(config), node, error });
    streamEvent(config, node, "error", { detail: MemoryError.is(error) ? error.code : "UNEXPECTED" });
    return fallback;
  }
}
