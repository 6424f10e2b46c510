import type { LanguageModelMiddleware, Tool } from "ai";
import { z } from "zod";
import { continueOnError } from "../langgraph/run/node-options.js";
import { identityKeys } from "../langgraph/run/run-identity.js";
import { memoryQueryTool } from "../langgraph/tools/memory-query-tool.js";
import type { Memory } from "../memory.js";
import { parseScope, parseThreadId, type Scope, scopeField, threadField } from "../scope/scope.js";
import { recallModeSchema } from "../search/retrieval-options.js";
import { parseInput } from "../text/parse-input.js";
import { memoryBlock, shownBy } from "../turns/memory-block.js";
import type { Recalled } from "../turns/recalled.js";
import { messagesOf, type Prompt, promptOf, type Step, userText } from "./prompt-messages.js";

const optionsSchema = z.strictObject({
  scope: scopeField,
  threadId: threadField,
  agent: z.string().min(1).optional(),
  memoryMode: recallModeSchema.optional(),
  onError: z.enum(["continue", "throw"]).optional(),
});

export interface MemoryModelOptions {
  readonly scope: Scope;
  readonly threadId: string;
  /** Limits recall to this agent's allowlist. @default no limit */
  readonly agent?: string;
  /** "passive": remembers the turn and shows no memories. @default "active" */
  readonly memoryMode?: "active" | "passive";
  /** Whether a failed recall or remember ends the call. @default "continue" */
  readonly onError?: "continue" | "throw";
}

interface Turn {
  readonly prompt: Prompt;
  readonly recalled: Recalled | null;
  /** Whether an earlier step of the turn has reported what was shown. */
  readonly isReported: boolean;
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
  const { agent, memoryMode: mode, onError, ...given } = parseInput(optionsSchema, options, "options");
  const address = { scope: parseScope(given.scope), threadId: parseThreadId(given.threadId) };
  const config = { configurable: { thread_id: address.threadId, ...identityKeys(address.scope) } };
  const turns = new WeakMap<object, Turn>();
  let latest: { readonly question: string; readonly recalled: Recalled | null } | undefined;

  const remember = (params: object, step: Step) =>
    continueOnError(memory, { node: "remember", onError }, config, async () => {
      const turn = turns.get(params);
      if (!turn) return;
      const messages = messagesOf(turn.prompt, step);
      const shown = turn.recalled && !turn.isReported ? { shown: shownBy(turn.recalled) } : {};
      await memory.remember({ ...address, messages, ...shown, ...(agent !== undefined && { agentId: agent }) });
    });
  return {
    specificationVersion: "v3",
    async transformParams({ params }) {
      const { prompt } = params;
      const at = prompt.findLastIndex(({ role }) => role === "user");
      if (at < 0) return params;
      const question = JSON.stringify(prompt.slice(0, at + 1));
      const isReported = latest?.question === question;
      if (!isReported) {
        latest = { question, recalled: null };
        await continueOnError(memory, { node: "recall", onError }, config, async () => {
          const asked = { ...address, query: userText(prompt[at]) };
          latest = {
            question,
            recalled: await memory.recall({ ...asked, ...(agent && { agent }), ...(mode && { mode }) }),
          };
        });
      }
      const recalled = latest?.recalled ?? null;
      const shown = { ...params, prompt: recalled ? withMemory(prompt, at, recalled) : prompt };
      turns.set(shown, { prompt, recalled, isReported });
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
      const calls: Step[number][] = [];
      const watched = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === "text-delta") text += part.delta;
          if (part.type === "tool-call") calls.push(part);
          controller.enqueue(part);
        },
        flush: () => remember(params, [{ type: "text", text }, ...calls]),
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
