import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { CompiledStateGraph, MessagesAnnotation, StateDefinition } from "@langchain/langgraph";
import type { NamedSubagent } from "./subagent.js";
import type { Delegations } from "./supervisor-delegations.js";

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
