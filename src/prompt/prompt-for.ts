import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { z } from "zod";
import { nonBlank, parseInput } from "../input/parse-input.js";
import type { ShownContext } from "../transcript/shown-turns.js";
import { memoryBlock } from "./memory-block.js";
import type { RecallInput } from "./recall-request.js";
import type { Recalled } from "./recalled.js";
import { handedForm, shownBy } from "./shown-by.js";
import { type InjectAs, injectAsSchema, turnMessages } from "./turn-messages.js";

export interface PromptInput extends Omit<RecallInput, "query" | "state"> {
  /** The user's current words: the last message of the prompt. */
  readonly query: string;
  /** Where memory goes, as for `withMemory`. @default "message" */
  readonly injectAs?: InjectAs | undefined;
}

/** A message as chat models of any library take it; LangChain's types take no interface. */
export type PromptMessage = { role: "system" | "user" | "assistant"; content: string };

/** What to give a model for one turn. */
export interface MemoryPrompt {
  /**
   * Memories and summary as one text, for a program that keeps the conversation itself; null if
   * there is nothing.
   */
  readonly text: string | null;
  /**
   * The whole prompt: memory, the conversation so far, `query`. Tools' calls are omitted.
   */
  readonly messages: PromptMessage[];
  /** For `remember`: then the prompts of a conversation only grow, and providers cache them. */
  readonly shown: ShownContext;
}

const inputSchema = z.looseObject({ query: nonBlank, injectAs: injectAsSchema.optional() });

/**
 * Refuses a prompt without a question, before anything is read.
 * @throws MemoryError `INVALID_INPUT`
 */
export function parsePromptInput(input: PromptInput): RecallInput {
  parseInput(inputSchema, input, "promptFor");
  const { injectAs: _, ...recalled } = input;
  return recalled;
}

export function promptOf(recalled: Recalled, { query, injectAs }: PromptInput): MemoryPrompt {
  const messages = turnMessages([new HumanMessage(query)], recalled, injectAs);
  const { noted } = recalled.epoch.handed ?? {};
  if (noted) noted.isPlain = true;
  return {
    text: memoryBlock(recalled),
    messages: plainMessages(messages),
    shown: shownBy(recalled),
  };
}

/** Without calls of tools and their results, which the summary tells. */
export function plainMessages(messages: readonly BaseMessage[]): PromptMessage[] {
  return messages.flatMap((message) => {
    const { role } = handedForm(message);
    if (role === "tool" || role === "other" || message.text === "") return [];
    return { role, content: message.text };
  });
}
