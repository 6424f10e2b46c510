import { isGraphBubbleUp, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import type { Memory } from "../../memory.js";
import { type RecallMode, recallModeSchema } from "../../search/retrieval-options.js";
import { parseInput } from "../../text/parse-input.js";
import { isMemory, wayIn } from "../../way-in.js";
import { runIdentity } from "./run-identity.js";
import { streamEvent } from "./run-state.js";

/** Whether the graph's state keeps the whole conversation or only what no summary covers. */
type SessionMode = "full" | "bounded";

/** Where the memory block goes: a system message, or in front of the current user message. */
export type InjectAs = z.output<typeof injectAsSchema>;

/** What a failed recall, consent or remember does to the turn. */
export type OnError = "continue" | "throw";

/** How the two ends of a round behave, whichever way in they are part of. */
export interface RoundOptions {
  /**
   * "bounded" removes summarised messages from the graph's state; the transcript keeps them. Checkpoints then stop
   * growing with the square of the conversation. A bigger graph that has this one as a subgraph keeps everything in its
   * own `messages`. @default "full"
   */
  readonly session?: SessionMode | undefined;
  /** Where the memory block goes; "user" is for providers that take one system message only. @default "system" */
  readonly injectAs?: InjectAs | undefined;
  /** Whether a failed recall or remember ends the turn. @default "continue" */
  readonly onError?: OnError | undefined;
  /**
   * Who the agent is: only categories of its allowlist are recalled, and what is learned from the round carries its
   * name. @default no restriction; the run's `agent_id`
   */
  readonly agent?: string | undefined;
  /** "passive": the turn is remembered and shown no memories. A run's `memory_mode` comes first. @default "active" */
  readonly memoryMode?: RecallMode | undefined;
}

/** For graphs that name their list of messages otherwise. */
export interface MessagesKeyOption<Key extends string = string> {
  /** The key of the graph's state that holds the messages, which must merge by id. @default "messages" */
  readonly messagesKey?: Key | undefined;
}

/** `MessagesKeyOption` as a part of a schema. */
export const messagesKey = { messagesKey: z.string().min(1).optional() };

/**
 * The update that a node of memory gives a graph, whose own is `Update`. In a graph that lacks one of the `Needed` keys
 * it is a text instead, so that the node does not compile there. States whose keys TypeScript does not know pass.
 */
export type NodeUpdate<Update, Needed extends string> = 0 extends 1 & Update
  ? Promise<Update>
  : [StateKeys<Update>] extends [never]
    ? Promise<Update>
    : [Needed] extends [StateKeys<Update>]
      ? Promise<Update>
      : `The graph's state lacks the key ${Exclude<Needed, StateKeys<Update>>}: see recallNode and messagesKey`;

/** The keys of an update, without the index signature that LangGraph adds to it. */
type StateKeys<Update> = keyof { [Key in keyof Update as string extends Key ? never : Key]: unknown };

export const injectAsSchema = z.enum(["system", "user"]);

/** `RoundOptions` as a schema. */
export const roundOptions = z.strictObject({
  session: z.enum(["full", "bounded"]).optional(),
  injectAs: injectAsSchema.optional(),
  onError: z.enum(["continue", "throw"]).optional(),
  agent: z.string().min(1).optional(),
  memoryMode: recallModeSchema.optional(),
});

/**
 * Sees to it that `memory` is one and that `options` are what `schema` knows. A misspelt option would be left out
 * without a word, and with it an allowlist.
 *
 * @param what whose options they are, for the error: "withMemory".
 * @throws MemoryError `INVALID_INPUT`
 */
export function checkOptions(memory: Memory, schema: z.ZodType, options: unknown, what: string): void {
  if (!isMemory(memory)) {
    throw new MemoryError("INVALID_INPUT", `${what} needs a memory: pass what createMemory returns.`);
  }
  parseInput(schema, options, `options of ${what}`);
}

/** Mistakes of the calling program: carrying on would hide them, or cross a scope. */
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
 * Does `step` for a node. When it fails and the turn may go on, there is a log line and an event.
 *
 * While the database is left alone since it did not answer, the step is skipped at once: there is a line in the log
 * and an event of the pause as a whole, and one in the stream of each turn. Interrupts and other control flow of
 * LangGraph always pass.
 *
 * @param onError @default "continue"
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
    if (isGraphBubbleUp(error) || onError === "throw") throw error;
    if (MemoryError.is(error) && neverContinued.has(error.code)) throw error;
    // Also where nothing was tried, a run without a scope or a thread is refused.
    const identity = runIdentity(config, memory);
    const detail = MemoryError.is(error) ? error.code : "UNEXPECTED";
    const skipped = MemoryError.is(error) && error.details.retryInMs !== undefined;
    if (!skipped) await wayIn(memory).reportError({ ...identity, node, error });
    streamEvent(config, node, skipped ? "skipped" : "error", { detail });
  } finally {
    streamPause(config, before, memory.databaseStatus());
  }
}

type Status = ReturnType<Memory["databaseStatus"]>;

/** Reports in the stream of a run that turns go on without memory from here. */
function streamPause(config: LangGraphRunnableConfig, before: Status, { state, retryInMs }: Status): void {
  if (before.state === state || state === "up") return;
  streamEvent(config, "database", "skipped", { detail: "paused", retryInMs });
}
