import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { untilAborted } from "./gate.js";
import { type ScriptedReply, toAnswer, toolName } from "./scripted-reply.js";
import {
  type StandInCallOptions,
  StandInChatModel,
  type StandInOptions,
  type StandInParams,
} from "./stand-in-chat-model.js";

/** Makes the reply at the call. `callIndex` counts the model's calls from 0. */
export type ScriptedReplyFunction = (
  messages: readonly BaseMessage[],
  callIndex: number,
  options: StandInCallOptions,
) => ScriptedReply | Promise<ScriptedReply>;

/** One call the model received, answered or not. */
export interface ScriptedCall {
  readonly messages: BaseMessage[];
  /** The tools bound for this call; {@link toolNames} are their names, in the same order. */
  readonly tools: readonly BindToolsInput[];
  readonly toolNames: readonly string[];
  /** All options of the call: tags, metadata, configurable, signal, tool_choice, stop, … */
  readonly options: StandInCallOptions;
}

export interface ScriptedChatModelParams extends StandInParams {
  /** Answers in the order of the calls, or a function that makes every answer. */
  readonly replies: readonly (ScriptedReply | ScriptedReplyFunction)[] | ScriptedReplyFunction;
  /** Repeats the last reply when the script has ended, instead of failing. @default false */
  readonly repeatLast?: boolean;
}

/**
 * A stand-in for a chat model that answers from a script and records its calls. For tests.
 *
 * ```ts
 * const model = new ScriptedChatModel({ replies: ["Hello.", { structured: { summary: "…" } }, new
 * Error("overloaded")] });
 * await model.invoke("hi");                                       // "Hello."
 * await model.withStructuredOutput(schema).invoke("sum it up");   // { summary: "…" }
 * model.calls[1]?.toolNames;                                      // ["extract"]
 * ```
 *
 * Every binding of the model (`bindTools`, `withConfig`, `withStructuredOutput`) continues the same
 * script.
 * @throws Error when the script has ended; the errors of the script.
 */
export class ScriptedChatModel extends StandInChatModel {
  /** In the order of arrival, including calls that wait at a gate. */
  readonly calls: ScriptedCall[] = [];
  readonly #replies: ScriptedChatModelParams["replies"];
  readonly #repeatLast: boolean;

  constructor({ replies, repeatLast, ...params }: ScriptedChatModelParams) {
    super(params);
    this.#replies = typeof replies === "function" ? replies : [...replies];
    this.#repeatLast = repeatLast ?? false;
  }

  static override lc_name(): string {
    return "ScriptedChatModel";
  }

  override _llmType(): string {
    return "scripted-chat-model";
  }

  protected override async respond(
    messages: BaseMessage[],
    options: StandInOptions,
  ): Promise<AIMessage> {
    const { runConfig, ...callOptions } = options;
    const { tools = [], signal, tool_choice: toolChoice } = options;
    const toolNames = tools.map(toolName);
    const received = { ...runConfig, ...callOptions, tools };
    const call: ScriptedCall = { messages: [...messages], tools, toolNames, options: received };
    const callIndex = this.calls.push(call) - 1;
    await this.hold(signal);
    const entry = this.#entry(callIndex, messages);
    const made = typeof entry === "function" ? entry(call.messages, callIndex, received) : entry;
    const reply = await untilAborted(Promise.resolve(made), signal);
    return reply === "hang"
      ? untilAborted(new Promise<never>(() => {}), signal)
      : toAnswer(reply, { toolNames, toolChoice });
  }

  #entry(
    callIndex: number,
    messages: readonly BaseMessage[],
  ): ScriptedReply | ScriptedReplyFunction {
    if (typeof this.#replies === "function") return this.#replies;
    const entry = this.#replies[callIndex] ?? (this.#repeatLast ? this.#replies.at(-1) : undefined);
    if (entry !== undefined) return entry;
    const last = messages.at(-1);
    const asked =
      last === undefined
        ? "no messages"
        : `${last.type}: ${JSON.stringify(last.text.slice(0, 120))}`;
    throw new Error(
      `ScriptedChatModel has no reply for call ${callIndex + 1}: the script has ${this.#replies.length}. ` +
        `The call's last message is ${asked}. Add a reply, or set repeatLast.`,
    );
  }
}
