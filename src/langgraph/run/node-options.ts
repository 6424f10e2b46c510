import { isGraphBubbleUp, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import type { Memory } from "../../memory.js";
import { recallModeSchema } from "../../search/retrieval-options.js";
import { parseInput } from "../../text/parse-input.js";
import { streamEvent } from "./memory-state.js";
import { runIdentity } from "./run-identity.js";

export const injectAsSchema = z.enum(["system", "user"]);

/** Where the memory block goes: a system message, or in front of the current user message. */
export type InjectAs = z.output<typeof injectAsSchema>;

/** Options that several ways in share. */
export const sharedOptions = z.strictObject({
  session: z.enum(["full", "bounded"]).optional(),
  injectAs: injectAsSchema.optional(),
  onError: z.enum(["continue", "throw"]).optional(),
  agent: z.string().min(1).optional(),
  memoryMode: recallModeSchema.optional(),
});

/**
 * Sees to it that `memory` is one and that `options` are what `schema` knows: a misspelt option would be left out
 * without a word, and with it an allowlist.
 *
 * @param what whose options they are, for the error: "withMemory".
 * @throws MemoryError `INVALID_INPUT`
 */
export function checkOptions(memory: Memory, schema: z.ZodType, options: unknown, what: string): void {
  if (typeof memory?.recall !== "function") {
    throw new MemoryError("INVALID_INPUT", `${what} needs a memory: pass what createMemory returns.`);
  }
  parseInput(schema, options, `options of ${what}`);
}

/** What a failed recall, consent or remember does to the turn. */
export type OnError = "continue" | "throw";

/** Mistakes of the calling program: carrying on would hide them, or cross a scope. */
const neverContinued: ReadonlySet<MemoryErrorCode> = new Set([
  "CLOSED",
  "DATA_DIRECTORY_LOCKED",
  "INVALID_INPUT",
  "LANGUAGE_DIFFERS",
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
