import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import { getCurrentTaskInput, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import { parseInput } from "../../input/parse-input.js";
import type { Memory } from "../../memory.js";
import { opensTurn, withoutReminders } from "../../messages/inserted-message.js";
import { messageText } from "../../messages/message-text.js";
import { saidMessage } from "../../messages/recalled-mark.js";
import { isDelegatedThread } from "../../scope/scope.js";
import { contentHash } from "../../text/normal-value.js";
import { turnOptionsSchema } from "../run/node-options.js";
import { isWithinTool, runIdentity } from "../run/run-identity.js";
import { keptByRun } from "../run/run-state.js";
import {
  type AnsweredMessage,
  latestMessage,
  noteMessage,
  turnIdentity,
} from "../run/turn-identity.js";

export const nameOption = z.strictObject({ name: z.string().optional() });
export type NameOption = z.input<typeof nameOption>;

export const toolOptions = nameOption.extend(turnOptionsSchema.pick({ agent: true }).shape);
export type ToolOptions = z.input<typeof toolOptions>;

interface MemoryTool<Schema extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  /** A strict one refuses unknown arguments; for a loose one `answer` does. */
  readonly schema: Schema;
  /** Errors reported to the model. Others fail the call. */
  readonly refusals: readonly MemoryErrorCode[];
  answer(input: z.output<Schema>, config: LangGraphRunnableConfig): Promise<string>;
  refused?(error: MemoryError, config: LangGraphRunnableConfig): string | Promise<string>;
}

/** @throws MemoryError `INVALID_INPUT` for a name that providers refuse */
export function memoryTool<Schema extends z.ZodObject>(
  definition: MemoryTool<Schema>,
): DynamicStructuredTool {
  const { name, description, schema, refusals, answer } = definition;
  const { refused = ({ message }: MemoryError) => `Refused: ${message}` } = definition;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw invalid(
      `"${name}" cannot be a tool's name: providers accept 1 to 64 of a–z, A–Z, 0–9, _ and -.`,
    );
  const isLoose = schema.def.catchall !== undefined;
  const run = async (input: z.output<Schema>, config: LangGraphRunnableConfig): Promise<string> => {
    let isParsed = isLoose;
    try {
      if (!isLoose) parseInput(schema.strict(), input, "arguments");
      isParsed = true;
      return await answer(input, config);
    } catch (error) {
      if (!MemoryError.is(error) || (isParsed && !refusals.includes(error.code))) throw error;
      return refused(error, config);
    }
  };
  // LangChain drops unknown arguments, and models misspell.
  const wire = isLoose ? schema : schema.loose().meta(noOthers);
  const settings = { name, description, schema: wire };
  return tool(run as never, settings) as unknown as DynamicStructuredTool;
}

export const invalid = (message: string) => new MemoryError("INVALID_INPUT", message);

/** For arguments that are accepted only to be refused with a message. */
export const noOthers = { additionalProperties: false };

export function toolMessages(
  config: LangGraphRunnableConfig & { readonly state?: unknown },
): BaseMessage[] {
  // Newer tool nodes pass the state; older ones do not.
  const state =
    config.state ??
    (config.configurable?.__pregel_scratchpad ? getCurrentTaskInput(config) : undefined);
  const messages = Array.isArray(state)
    ? state
    : (state as { messages?: unknown } | undefined)?.messages;
  return Array.isArray(messages) ? messages : [];
}

/** An agent within a tool cannot ask the user. */
export function nothingFits(what: string, config: LangGraphRunnableConfig): string {
  return isWithinTool(config) ? what : `${what} Ask the user if you need to know.`;
}

export type UserWords = { readonly messageId?: string | undefined; readonly text: string };

/**
 * The user's message that a call answers, for the limits of what one message changes. A subagent
 * answers the message of the agent around it. Where memory has not seen that, the conversation's
 * subagents share the limits of one message in a day.
 */
export function answeredMessage(
  config: LangGraphRunnableConfig,
  memory: Memory,
  agent: string | undefined,
): AnsweredMessage {
  const { scope, threadId: named } = runIdentity(config, memory);
  const { threadId } = turnIdentity(config, memory, toolMessages(config), agent);
  if (isDelegatedThread(threadId))
    return latestMessage({ scope, threadId: named }) ?? { threadId: named, messageId: "task" };
  const said = currentUserWords(config).at(-1);
  const messageId = said ? idOfWords(said) : (runName(config) ?? randomUUID());
  noteMessage({ scope, threadId }, messageId);
  return { threadId, messageId };
}

const runName = keptByRun(randomUUID);

/** Without an id, the text identifies a message. */
export const idOfWords = ({ messageId, text }: UserWords): string => messageId ?? contentHash(text);

/** The user's latest words: the last human messages, without inserted text. */
export function currentUserWords(config: LangGraphRunnableConfig): UserWords[] {
  // Within a tool, another agent speaks.
  if (isWithinTool(config)) return [];
  const messages = toolMessages(config);
  const last = messages.findLastIndex(opensTurn);
  const before = messages.findLastIndex(
    (message, index) => index < last && message.getType() !== "human",
  );
  const turn = messages.slice(before + 1, last + 1).filter(opensTurn);
  const own = turn.map(saidMessage).filter((message) => message !== null);
  return own.map((said) => ({ messageId: said.id, text: withoutReminders(messageText(said)) }));
}
