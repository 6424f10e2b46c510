import { isGraphBubbleUp, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import { parseInput } from "../../input/parse-input.js";
import { internalApi, isMemory } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { type InjectAs, injectAsSchema } from "../../prompt/turn-messages.js";
import { minTrustField } from "../../search/memory-filter.rule.js";
import type { MemoryQuery } from "../../search/query-memories.js";
import { type RecallMode, recallModeSchema } from "../../search/retrieval-options.js";
import { runIdentity } from "./run-identity.js";
import { streamEvent } from "./run-state.js";

export type OnError = "continue" | "throw";

export interface TurnOptions {
  /**
   * "bounded" removes summarised messages from the state, not from the transcript: otherwise
   * checkpoints grow with the square of the conversation. A parent graph's own `messages` keep
   * everything.
   * @default "full"
   */
  readonly session?: "full" | "bounded" | undefined;
  /**
   * Where memory goes. "message": messages of their own, of the user's role and named "memory",
   * before the user's, so that the last message is what the user said. "system": the block ends
   * the system message. "text": memory begins the user's text, for servers that demand alternating
   * roles or refuse `name`.
   * @default "message"
   */
  readonly injectAs?: InjectAs | undefined;
  /** Whether a failed recall or remember ends the turn. @default "continue" */
  readonly onError?: OnError | undefined;
  /**
   * Limits recall to this agent's allowlist and labels what is learned.
   * @default no limit; the run's `agent_id`
   */
  readonly agent?: string | undefined;
  /** Shows only memories of at least this trust. @default any */
  readonly minTrust?: MemoryQuery["minTrust"];
  /**
   * "passive": remembers the turn and shows no memories. A run's `memory_mode` comes first.
   * @default "active"
   */
  readonly memoryMode?: RecallMode | undefined;
}

export interface MessagesKeyOption<Key extends string = string> {
  /** The state's key of the messages, which must merge by id. @default "messages" */
  readonly messagesKey?: Key | undefined;
}

export const messagesKeyField = { messagesKey: z.string().min(1).optional() };

/** A text if the graph lacks a `Needed` key, so that the node does not compile there. */
export type NodeUpdate<Update, Needed extends string> = 0 extends 1 & Update
  ? Promise<Update>
  : [StateKeys<Update>] extends [never]
    ? Promise<Update>
    : [Needed] extends [StateKeys<Update>]
      ? Promise<Update>
      : `The graph's state lacks the key ${Exclude<Needed, StateKeys<Update>>}: see recallNode and messagesKey`;

/** LangGraph adds an index signature. */
type StateKeys<Update> = keyof {
  [Key in keyof Update as string extends Key ? never : Key]: unknown;
};

export const turnOptionsSchema = z.strictObject({
  session: z.enum(["full", "bounded"]).optional(),
  injectAs: injectAsSchema.optional(),
  onError: z.enum(["continue", "throw"]).optional(),
  agent: z.string().min(1).optional(),
  minTrust: minTrustField,
  memoryMode: recallModeSchema.optional(),
});

/**
 * Refuses unknown options: a misspelt allowlist would be ignored.
 * @throws MemoryError `INVALID_INPUT`
 */
export function checkOptions(
  memory: Memory,
  schema: z.ZodType,
  options: unknown,
  what: string,
): void {
  if (!isMemory(memory))
    throw new MemoryError(
      "INVALID_INPUT",
      `${what} needs a memory: pass what createMemory returns.`,
    );
  parseInput(schema, options, `options of ${what}`);
}

/** Errors that `onError` never hides: mistakes of the program or of its setup, and of scopes. */
const neverContinued: ReadonlySet<MemoryErrorCode> = new Set([
  "CLOSED",
  "DATA_DIRECTORY_LOCKED",
  "INVALID_INPUT",
  "PEER_MISSING",
  "PERMISSION_DENIED",
  "SCHEMA_DIFFERS",
  "SCOPE_REQUIRED",
  "SETUP_REQUIRED",
  "THREAD_FORBIDDEN",
]);

/**
 * Logs and reports a failure that does not end the turn. A paused database skips steps; interrupts
 * always pass.
 */
export async function continueOnError(
  memory: Memory,
  { node, onError }: { node: "recall" | "consent" | "remember"; onError: OnError | undefined },
  config: LangGraphRunnableConfig,
  step: () => Promise<void>,
): Promise<void> {
  const before = memory.databaseStatus();
  try {
    await step();
  } catch (error) {
    const known = MemoryError.is(error) ? error : undefined;
    const isMistake = known && neverContinued.has(known.code);
    if (isGraphBubbleUp(error) || onError === "throw" || isMistake) throw error;
    // Refuses a run without a scope or thread even if the step was skipped.
    const identity = runIdentity(config, memory);
    const detail = known?.code ?? "UNEXPECTED";
    const skipped = known?.details.retryInMs !== undefined;
    if (!skipped) await internalApi(memory).reportError({ ...identity, node, error });
    streamEvent(config, node, skipped ? "skipped" : "error", { detail });
  } finally {
    const { state, retryInMs } = memory.databaseStatus();
    const isNewPause = state !== "up" && state !== before.state;
    if (isNewPause) streamEvent(config, "database", "skipped", { detail: "paused", retryInMs });
  }
}
