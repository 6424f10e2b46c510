import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { CompiledStateGraph, MessagesAnnotation, StateDefinition } from "@langchain/langgraph";
import { MemoryError, messageOf } from "../../errors.js";
import type { NamedSubagent } from "./subagent.js";

/** Whether a round's hand-overs and their results become part of the conversation. */
export type Delegations = "recorded" | "hidden";

/** Removes the tool calls and tool results of the last round: what stays is the question and the answer. */
export function removeDelegations(state: { messages: BaseMessage[] }): { messages: RemoveMessage[] } {
  const { messages } = state;
  const asked = messages.findLastIndex((message) => message.getType() === "human");
  return {
    messages: messages
      .slice(asked + 1)
      .filter((message) => message.getType() === "tool" || callsTools(message))
      .flatMap(({ id }) => (id === undefined ? [] : [new RemoveMessage({ id })])),
  };
}

function callsTools(message: BaseMessage): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls?.length ?? 0) > 0;
}

/** What a supervisor is built from, in either mode. */
export interface SupervisorParts {
  readonly model: BaseChatModel;
  readonly prompt: string;
  readonly tools: readonly StructuredToolInterface[];
  /** The tools of an agent that was given `tools`: the same, and those to ask memory with in its name. */
  readonly toolsOf: (agent: string, tools: readonly StructuredToolInterface[]) => StructuredToolInterface[];
  readonly subagents: readonly NamedSubagent[];
  readonly delegations: Delegations;
}

/** A supervisor without memory. */
export type SupervisorGraph = CompiledStateGraph<
  typeof MessagesAnnotation.State,
  typeof MessagesAnnotation.Update,
  string,
  typeof MessagesAnnotation.spec,
  typeof MessagesAnnotation.spec,
  StateDefinition
>;

/** Name of the supervisor's graph, and of its node in the graph around it. */
export const supervisorName = "supervisor";

/**
 * An optional package, loaded when it is needed.
 *
 * Loaded with `import`, never `require`: these packages ship a CommonJS copy too, and it brings a second
 * LangGraph with classes of its own, which the graphs made here would not recognise.
 *
 * @throws MemoryError `PEER_MISSING` when it cannot be loaded, naming the command that installs it.
 */
export async function loadSupervisorPeer<Module>(
  packageName: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const detail = messageOf(cause);
    throw new MemoryError(
      "PEER_MISSING",
      `createMemorySupervisor needs ${packageName}, which cannot be loaded: run \`npm install ${packageName}\`. (${detail})`,
      { cause },
    );
  }
}
