import type { LanguageModelMiddleware, Tool } from "ai";
import { continueOnError, type TurnOptions, turnOptions } from "../langgraph/run/node-options.js";
import { identityKeys } from "../langgraph/run/run-identity.js";
import { memoryQueryTool } from "../langgraph/tools/memory-query-tool.js";
import type { Memory } from "../memory.js";
import { parseAddressed, type Scope, scopeField, type ThreadAddress, threadField } from "../scope/scope.js";
import { memoryBlock, shownBy } from "../turns/memory-block.js";
import type { Recalled } from "../turns/recalled.js";
import { messagesOf, type Prompt, promptOf, type Step, userText } from "./prompt-messages.js";

const optionsSchema = turnOptions
  .pick({ onError: true, agent: true, memoryMode: true })
  .extend({ scope: scopeField, threadId: threadField });

export interface MemoryModelOptions extends ThreadAddress, Pick<TurnOptions, "onError" | "agent" | "memoryMode"> {}

/** A question and what was recalled for it, shared by the steps of its turn. */
interface Turn {
  readonly question: string;
  readonly recalled: Recalled | null;
  /** Whether a recorded step has reported what was shown. */
  isReported: boolean;
}

/**
 * Memory for one conversation: recalls in front of the last user message, remembers the turn after each step. A prompt of
 * that message alone gets the conversation so far as well.
 * @example
 * ```ts
 * const middleware = memoryModelMiddleware(memory, { scope: { userId: "ana" }, threadId: "monday" });
 * const { text } = await generateText({ model: wrapLanguageModel({ model: gpt, middleware }), prompt: "Hello" });
 * ```
 * @throws MemoryError `INVALID_INPUT` and `SCOPE_REQUIRED` for invalid options; in the call `THREAD_FORBIDDEN`
 */
export function memoryModelMiddleware(memory: Memory, options: MemoryModelOptions): LanguageModelMiddleware {
  const { agent, memoryMode: mode, onError, ...address } = parseAddressed(optionsSchema, options, "options");
  const config = { configurable: { thread_id: address.threadId, ...identityKeys(address.scope) } };
  const calls = new WeakMap<object, { readonly prompt: Prompt; readonly turn: Turn }>();
  let latest: Turn | undefined;

  const recall = async (question: string, query: string): Promise<Turn> => {
    let recalled: Recalled | null = null;
    await continueOnError(memory, { node: "recall", onError }, config, async () => {
      recalled = await memory.recall({ ...address, query, ...(agent && { agent }), ...(mode && { mode }) });
    });
    return { question, recalled, isReported: false };
  };
  const remember = (params: object, step: Step) =>
    continueOnError(memory, { node: "remember", onError }, config, async () => {
      const call = calls.get(params);
      if (!call) return;
      const { prompt, turn } = call;
      const shown = turn.recalled && !turn.isReported ? { shown: shownBy(turn.recalled) } : {};
      const messages = messagesOf(prompt, step);
      await memory.remember({ ...address, messages, ...shown, ...(agent !== undefined && { agentId: agent }) });
      turn.isReported = true;
    });
  return {
    specificationVersion: "v3",
    async transformParams({ params }) {
      const { prompt } = params;
      const at = prompt.findLastIndex(({ role }) => role === "user");
      if (at < 0) return params;
      const question = JSON.stringify(prompt.slice(0, at + 1));
      const turn = latest?.question === question ? latest : await recall(question, userText(prompt[at]));
      latest = turn;
      const shown = { ...params, prompt: turn.recalled ? withMemory(prompt, at, turn.recalled) : prompt };
      calls.set(shown, { prompt, turn });
      return shown;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await remember(params, result.content);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let text = "";
      const others: Step[number][] = [];
      const watched = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") text += part.delta;
          if (part.type === "tool-call" || part.type === "file") others.push(part);
          controller.enqueue(part);
        },
        flush: () => remember(params, [{ type: "text", text }, ...others]),
      });
      return { ...rest, stream: stream.pipeThrough(watched) };
    },
  };
}

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
type StreamPart = Streamed extends ReadableStream<infer Part> ? Part : never;

/** Callers send the whole conversation, or the last message alone. */
function withMemory(prompt: Prompt, at: number, recalled: Recalled): Prompt {
  const hasHistory = prompt.slice(0, at).some(({ role }) => role !== "system");
  const known = hasHistory ? { ...recalled, summary: null, omitted: null } : recalled;
  const block = memoryBlock(known);
  const earlier = hasHistory ? [] : promptOf([...recalled.recent, ...recalled.gap]);
  const shown = prompt.map((message, place) => {
    if (place !== at || message.role !== "user" || block === null) return message;
    return { ...message, content: [{ type: "text" as const, text: `${block}\n\n` }, ...message.content] };
  });
  return [...shown.slice(0, at), ...earlier, ...shown.slice(at)];
}

/** `memory.query` as a tool of the AI SDK, for `tools: { memory_query: memoryQueryToolFor(memory, { scope }) }`. */
export function memoryQueryToolFor(memory: Memory, options: { readonly scope: Scope; readonly agent?: string }): Tool {
  const query = memoryQueryTool(memory, options);
  return {
    description: query.description,
    inputSchema: query.schema as never,
    execute: (input: unknown) => query.invoke(input as never),
  };
}
