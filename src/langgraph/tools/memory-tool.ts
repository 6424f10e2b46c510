import type { BaseMessage } from "@langchain/core/messages";
import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import { getCurrentTaskInput, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { saidMessage } from "../../conversation/recalled-mark.js";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import { messageText } from "../../text/message-text.js";
import { parseInput } from "../../text/parse-input.js";
import { isDelegated } from "../run/run-identity.js";

/** A tool by which a model uses memory. */
interface MemoryTool<Schema extends z.ZodObject> {
  /** On the wire. */
  readonly name: string;
  readonly description: string;
  /** Arguments that it does not know are refused; of a loose one `answer` refuses them. */
  readonly schema: Schema;
  /** What a model can do something about, or do without. Other errors fail the tool's call. */
  readonly refusals: ReadonlySet<MemoryErrorCode>;
  answer(input: z.output<Schema>, config: LangGraphRunnableConfig): Promise<string>;
  /** The answer to a refusal. */
  refused(error: MemoryError, config: LangGraphRunnableConfig): string | Promise<string>;
}

/**
 * The LangChain tool of `definition`, whose refusals are messages that the model can act on.
 *
 * @throws MemoryError `INVALID_INPUT` for a name that providers would refuse.
 */
export function memoryTool<Schema extends z.ZodObject>(
  definition: MemoryTool<Schema>,
): DynamicStructuredTool {
  const { name, description, schema, refusals } = definition;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw new MemoryError(
      "INVALID_INPUT",
      `"${name}" cannot be a tool's name: providers accept 1 to 64 of a–z, A–Z, 0–9, _ and -.`,
    );
  }
  const isLoose = schema.def.catchall !== undefined;
  const known = z.strictObject(
    Object.fromEntries(Object.keys(schema.shape).map((key) => [key, z.unknown().optional()])),
  );
  const run = async (input: z.output<Schema>, config: LangGraphRunnableConfig): Promise<string> => {
    try {
      if (!isLoose) parseInput(known, input, "arguments");
    } catch (error) {
      if (MemoryError.is(error)) return definition.refused(error, config);
      throw error;
    }
    try {
      return await definition.answer(input, config);
    } catch (error) {
      if (!MemoryError.is(error) || !refusals.has(error.code)) throw error;
      return definition.refused(error, config);
    }
  };
  // LangChain leaves out what a schema does not know, and models misspell as people do.
  const wire = isLoose ? schema : schema.loose().meta(noOthers);
  const settings = { name, description, schema: wire };
  return tool(run as never, settings) as unknown as DynamicStructuredTool;
}

/** What a JSON schema says of arguments that are let through only to be refused with a message. */
export const noOthers = { additionalProperties: false };

/** The messages in the state of the graph that a tool is called in; none outside a graph. */
export function toolMessages(config: LangGraphRunnableConfig & { readonly state?: unknown }): BaseMessage[] {
  // Newer tool nodes give the state; older ones leave it to be looked up.
  const state = config.state ?? currentInput(config);
  const messages = Array.isArray(state) ? state : (state as { messages?: unknown } | undefined)?.messages;
  return Array.isArray(messages) ? messages : [];
}

/** Undefined outside a graph. */
function currentInput(config: LangGraphRunnableConfig): unknown {
  return config.configurable?.__pregel_scratchpad ? getCurrentTaskInput(config) : undefined;
}

/** A user's message. */
export interface UserWords {
  readonly messageId?: string | undefined;
  readonly text: string;
}

/**
 * What the user wrote at the beginning of the round under way: the last human messages of a graph's state.
 *
 * What memory put there, and tasks that one agent gave another, are nobody's words.
 */
export function currentUserWords(messages: readonly BaseMessage[]): UserWords[] {
  const last = messages.findLastIndex((message) => message.getType() === "human");
  const before = messages.findLastIndex((message, index) => index < last && message.getType() !== "human");
  return messages.slice(before + 1, last + 1).flatMap((message) => {
    const own = isDelegated(message) ? null : saidMessage(message);
    return own === null ? [] : [{ messageId: own.id, text: messageText(own) }];
  });
}
