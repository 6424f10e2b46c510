import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import {
  type AIMessage,
  AIMessageChunk,
  type BaseMessage,
  convertToChunk,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable, RunnableConfig } from "@langchain/core/runnables";
import { defined } from "../input/plain-json.js";
import { type Gate, pause } from "./gate.js";

export interface StandInParams extends BaseChatModelParams {
  /** Every call waits at it before the answer. */
  readonly gate?: Gate;
  /** Duration of every answer. @default 0 */
  readonly latencyMs?: number;
}

export interface StandInCallOptions extends BaseChatModelCallOptions {
  readonly tools?: BindToolsInput[];
  /**
   * Set by the model itself: core removes tags, metadata and the like before a model sees its
   * options.
   */
  readonly runConfig?: RunnableConfig;
}

export type StandInOptions = StandInChatModel["ParsedCallOptions"];

/** The base of stand-ins. Bindings share the model's state, as those of providers' models do. */
export abstract class StandInChatModel extends BaseChatModel<StandInCallOptions> {
  readonly #gate: Gate | undefined;
  readonly #latencyMs: number;

  constructor({ gate, latencyMs, ...params }: StandInParams) {
    super(params);
    this.#gate = gate;
    this.#latencyMs = latencyMs ?? 0;
  }

  /**
   * The answer to `messages`. Must call {@link hold} once, after everything that should happen on
   * arrival.
   */
  protected abstract respond(messages: BaseMessage[], options: StandInOptions): Promise<AIMessage>;

  /**
   * Waits for the gate, then for the latency; rejects with the signal's reason as soon as it
   * aborts.
   */
  protected async hold(signal: AbortSignal | undefined): Promise<void> {
    await this.#gate?.wait(signal);
    await pause(this.#latencyMs, signal);
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<StandInCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, StandInCallOptions> {
    return this.withConfig({ ...kwargs, tools });
  }

  // `withStructuredOutput` accepts chunks only, but core returns an `AIMessage` under LangGraph's
  // v3 event stream.
  override async invoke(
    input: BaseLanguageModelInput,
    options?: Partial<StandInCallOptions>,
  ): Promise<AIMessageChunk> {
    const message = await super.invoke(input, options);
    return options?.tools?.length ? toChunk(message) : message;
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
  ): Promise<ChatResult> {
    const message = await this.#answer(messages, options);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const message of chunksOf(await this.#answer(messages, options))) {
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      yield chunk;
      const index = { prompt: 0, completion: 0 };
      await runManager?.handleLLMNewToken(chunk.text, index, undefined, undefined, undefined, {
        chunk,
      });
    }
  }

  protected override _separateRunnableConfigFromCallOptionsCompat(
    options?: Partial<StandInCallOptions>,
  ): [RunnableConfig, this["ParsedCallOptions"]] {
    const [runConfig, callOptions] = super._separateRunnableConfigFromCallOptionsCompat(options);
    return [runConfig, { ...callOptions, runConfig }];
  }

  async #answer(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<AIMessage> {
    options.signal?.throwIfAborted();
    const message = await this.respond(messages, options);
    // The property's type is `undefined` under exactOptionalPropertyTypes, which forbids an
    // assignment.
    if (message.usage_metadata === undefined)
      Object.assign(message, { usage_metadata: estimateUsage(messages, message) });
    message.response_metadata = { model_name: this._llmType(), ...message.response_metadata };
    return message;
  }
}

/** The usual estimate for English. */
const charactersPerToken = 4;

function estimateUsage(input: readonly BaseMessage[], output: AIMessage): UsageMetadata {
  const inputTokens = input.reduce((sum, message) => sum + tokensIn(message.text), 0);
  const calls = output.tool_calls?.length ? JSON.stringify(output.tool_calls) : "";
  const outputTokens = tokensIn(output.text) + tokensIn(calls);
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

const tokensIn = (text: string): number => Math.ceil(text.length / charactersPerToken);

function toChunk(message: AIMessage): AIMessageChunk {
  if (AIMessageChunk.isInstance(message)) return message;
  const chunk = convertToChunk(message) as AIMessageChunk;
  // The constructor drops them.
  chunk.invalid_tool_calls = message.invalid_tool_calls ?? [];
  return chunk;
}

// Streams as providers do: words, then tool calls, then metadata and usage.
function* chunksOf(message: AIMessage): Generator<AIMessageChunk> {
  const id = defined({ id: message.id });
  const pieces =
    typeof message.content === "string"
      ? (message.content.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [])
      : [message.content];
  for (const content of pieces) yield new AIMessageChunk({ ...id, content });

  // Core's bridge to stream events keeps text in block 0, and loses a call with the same index.
  let index = pieces.length > 0 ? 1 : 0;
  for (const call of streamedCalls(message)) {
    const chunk = { type: "tool_call_chunk" as const, ...call, index: index++ };
    yield new AIMessageChunk({ ...id, content: "", tool_call_chunks: [chunk] });
  }

  yield new AIMessageChunk({
    ...id,
    content: "",
    additional_kwargs: message.additional_kwargs,
    response_metadata: message.response_metadata,
    ...defined({ name: message.name, usage_metadata: message.usage_metadata }),
  });
}

function streamedCalls(message: AIMessage): { name?: string; args: string; id?: string }[] {
  const { tool_calls: valid = [], invalid_tool_calls: invalid = [] } = message;
  const calls = [
    ...valid.map((call) => ({ ...call, args: JSON.stringify(call.args) })),
    ...invalid,
  ];
  return calls.map(({ name, args = "", id }) => ({ args, ...defined({ name, id }) }));
}
