import type { LanguageModelMiddleware, Tool } from "ai";
import {
  type Memory,
  MemoryError,
  memoryQueryTool,
  type Recalled,
  type Scope,
  shownBy,
  type ThreadAddress,
} from "mnemograph";
import {
  continueOnError,
  identityKeys,
  parseInput,
  requiredScope,
  requiredThread,
  type TurnOptions,
  timeZoneField,
  turnOptionsSchema,
  withAdvice,
} from "mnemograph/contract";
import {
  type GeneratedStep,
  type GeneratedUsage,
  ofWholePrompt,
  type Placed,
  placedMessages,
  promptWithMemory,
  type Sends,
  sendsSchema,
  turnOf,
  userText,
} from "./prompt-messages.js";

const optionsSchema = turnOptionsSchema
  .pick({ onError: true, agent: true, minTrust: true, memoryMode: true, injectAs: true })
  .extend({
    scope: requiredScope,
    threadId: requiredThread,
    timeZone: timeZoneField.optional(),
    sends: sendsSchema.default("last"),
  });

export interface MemoryModelOptions
  extends ThreadAddress,
    Pick<TurnOptions, "onError" | "agent" | "minTrust" | "memoryMode" | "injectAs"> {
  /** The user's, as "Europe/Lisbon". @default retrieval.timeZone */
  readonly timeZone?: string | undefined;
  /**
   * What each prompt is. "all": the whole conversation, so that one message alone is its first,
   * perhaps edited, and what was said before is gone. "last": its end, so that one message alone is
   * the next.
   * @default "last"
   */
  readonly sends?: Sends | undefined;
}

/** A question and what was recalled for it, shared by the steps of its turn. */
interface Turn {
  readonly question: string;
  readonly recalled: Recalled | null;
  /** Whether a recorded step has reported what was shown. */
  isReported: boolean;
}

/**
 * Memory for one conversation: recalls before a turn, remembers after each of its steps. Prompts
 * only grow until their oldest messages become a summary; one of the last message alone gets the
 * conversation so far.
 * @example
 * ```ts
 * const middleware = memoryModelMiddleware(memory, { scope: { userId: "ana" }, threadId: "monday" });
 * const { text } = await generateText({ model: wrapLanguageModel({ model: gpt, middleware }), prompt: "Hello" });
 * ```
 * @throws MemoryError `INVALID_INPUT` and `SCOPE_REQUIRED` for invalid options; in the call
 * `THREAD_FORBIDDEN`, and `PEER_MISSING` for the AI SDK 5
 */
export function memoryModelMiddleware(
  memory: Memory,
  options: MemoryModelOptions,
): LanguageModelMiddleware {
  const {
    agent,
    minTrust,
    memoryMode: mode,
    onError,
    injectAs,
    timeZone,
    sends,
    ...address
  } = parseInput(optionsSchema, options, "options");
  const config = { configurable: { thread_id: address.threadId, ...identityKeys(address.scope) } };
  const calls = new WeakMap<object, { readonly placed: readonly Placed[]; readonly turn: Turn }>();
  let latest: Turn | undefined;

  const recall = async (question: string, query: string): Promise<Turn> => {
    let recalled: Recalled | null = null;
    await continueOnError(memory, { node: "recall", onError }, config, async () => {
      recalled = await memory.recall({
        ...address,
        query,
        minTrust,
        timeZone,
        ...(agent && { agent }),
        ...(mode && { mode }),
      });
    });
    return { question, recalled, isReported: false };
  };
  const remember = (params: object, step: GeneratedStep, usage: GeneratedUsage | undefined) =>
    continueOnError(memory, { node: "remember", onError }, config, async () => {
      const call = calls.get(params);
      if (!call) return;
      const { placed, turn } = call;
      const shown = turn.recalled && !turn.isReported ? { shown: shownBy(turn.recalled) } : {};
      const messages = turnOf(placed, step, usage);
      await memory.remember({
        ...address,
        messages,
        timeZone,
        ...shown,
        ...(agent !== undefined && { agentId: agent }),
      });
      turn.isReported = true;
    });
  return {
    // AI SDK 6 requires "v3", and 7 takes it.
    specificationVersion: "v3",
    async transformParams({ params, model }) {
      refuseOlderSdk(model.specificationVersion);
      const { prompt } = params;
      const at = prompt.findLastIndex(({ role }) => role === "user");
      if (at < 0) return params;
      const question = JSON.stringify(prompt.slice(0, at + 1));
      const turn =
        latest?.question === question ? latest : await recall(question, userText(prompt[at]));
      latest = turn;
      const placed = placedMessages(prompt, turn.recalled, sends);
      const { recalled } = turn;
      const known = recalled && sends === "all" ? ofWholePrompt(recalled, placed) : recalled;
      const shown = known ? promptWithMemory(prompt, placed, known, injectAs) : prompt;
      const call = { ...params, prompt: shown };
      calls.set(call, { placed, turn });
      return call;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await withAdvice(doGenerate(), injectAs);
      await remember(params, result.content, result.usage);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await withAdvice(doStream(), injectAs);
      const watched = watchedStream((step, usage) => remember(params, step, usage));
      return { ...rest, stream: stream.pipeThrough(watched) };
    },
  };
}

function refuseOlderSdk(specificationVersion: string): void {
  if (specificationVersion !== "v2") return;
  throw new MemoryError(
    "PEER_MISSING",
    "Mnemograph works with models of the AI SDK 6 and 7, but this one is of version 5: " +
      'run `npm install "ai@^6.0.0 || ^7.0.0"`, and install the model\'s provider anew.',
  );
}

/** Passes all on. A stream with an error is not recorded, like a failed call. */
function watchedStream(
  onEnd: (step: GeneratedStep, usage: GeneratedUsage | undefined) => Promise<void>,
) {
  const step: GeneratedStep[number][] = [];
  const texts = new Map<string, { type: "text"; text: string }>();
  let usage: GeneratedUsage | undefined;
  let isFailed = false;
  return new TransformStream<StreamPart, StreamPart>({
    transform(part, controller) {
      controller.enqueue(part);
      if (part.type === "tool-call" || part.type === "file") step.push(part);
      if (part.type === "finish") usage = part.usage;
      if (part.type === "error") isFailed = true;
      if (part.type === "text-start") {
        const text = { type: "text" as const, text: "" };
        texts.set(part.id, text);
        step.push(text);
      }
      const text = part.type === "text-delta" && texts.get(part.id);
      if (text) text.text += part.delta;
    },
    flush: async () => {
      if (!isFailed) await onEnd(step, usage);
    },
  });
}

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
type StreamPart = Streamed extends ReadableStream<infer Part> ? Part : never;

/**
 * `memory.query` as a tool of the AI SDK, for `tools: { memory_query: memoryQueryToolFor(memory, {
 * scope }) }`.
 */
export function memoryQueryToolFor(
  memory: Memory,
  options: { readonly scope: Scope; readonly agent?: string },
): Tool {
  const query = memoryQueryTool(memory, options);
  return {
    description: query.description,
    inputSchema: query.schema as never,
    execute: (input: unknown) => query.invoke(input as never),
  };
}
