import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import {
  answerFromMessages,
  chooseSubagent,
  standInMark,
  subagentResult,
} from "./offline/answer.js";
import { offlineTasks } from "./offline/tasks.js";
import { callingTools, toolName } from "./scripted-reply.js";
import {
  StandInChatModel,
  type StandInOptions,
  type StandInParams,
} from "./stand-in-chat-model.js";

/** Makes the arguments of a structured answer from the call's messages. */
export type OfflineRule = (messages: readonly BaseMessage[]) => Record<string, unknown>;

export interface OfflineChatModelParams extends StandInParams {
  /**
   * Rules for more structured outputs, by the name given to `withStructuredOutput`. Others get
   * plain text.
   */
  readonly structured?: Readonly<Record<string, OfflineRule>>;
}

/**
 * A stand-in for a chat model that needs no key and no network: it follows rules, always the same
 * way, and every answer begins with a mark. For demos, tests and offline use; the library never
 * chooses it by itself.
 *
 * - The structured output `conversation_summary` is a line for each turn. `fact_extraction`,
 *   `episode_summary`, `procedure_steps`, `app_note` and `note_compaction` follow similar rules,
 *   for English. It finds no two memories equal, and has no insights.
 * - With the tools `planner` and `executor` bound, a message about planning or doing calls one,
 *   once a turn; the result is the answer.
 * - It answers other messages from the messages and memories in the prompt.
 *
 * ```ts
 * const model = new OfflineChatModel();
 * await model.invoke([new HumanMessage("My name is Ana."), new AIMessage("Hi!"), new HumanMessage("What is my name?")]);
 * // "[offline stand-in] You said: My name is Ana."
 * ```
 */
export class OfflineChatModel extends StandInChatModel {
  readonly #structured: ReadonlyMap<string, OfflineRule>;

  constructor({ structured, ...params }: OfflineChatModelParams = {}) {
    super(params);
    this.#structured = new Map(Object.entries({ ...taskRules, ...structured }));
  }

  static override lc_name(): string {
    return "OfflineChatModel";
  }

  override _llmType(): string {
    return "offline-chat-model";
  }

  protected override async respond(
    messages: BaseMessage[],
    options: StandInOptions,
  ): Promise<AIMessage> {
    await this.hold(options.signal);
    const toolNames = (options.tools ?? []).map(toolName);
    for (const name of toolNames) {
      const rule = this.#structured.get(name);
      if (rule) return callingTools([{ name, args: rule(messages) }], "");
    }
    const handOver = chooseSubagent(messages, toolNames);
    if (handOver) return callingTools([{ name: handOver.tool, args: { task: handOver.task } }], "");
    return new AIMessage(standInMark + (subagentResult(messages) ?? answerFromMessages(messages)));
  }
}

/** The library's own tasks read the latest human message. */
const taskRules: Readonly<Record<string, OfflineRule>> = Object.fromEntries(
  Object.entries(offlineTasks).map(([name, task]) => [
    name,
    (messages) => task(messages.findLast((message) => message.type === "human")?.text ?? ""),
  ]),
);
