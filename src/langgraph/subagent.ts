import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";

/** A compiled graph with `messages` in its state. */
export interface SubagentGraph {
  readonly builder: unknown;
  invoke(input: { messages: never }, config?: LangGraphRunnableConfig): Promise<unknown>;
}

/** What a subagent is made of when it is not a graph yet; it is given `memory_query` besides (`memoryTools`). */
export interface SubagentDefinition {
  readonly tools?: readonly StructuredToolInterface[];
  /** Its instructions. */
  readonly prompt?: string;
  /** @default the supervisor's model */
  readonly model?: BaseChatModel;
}

/** A compiled graph, what `createAgent` returns, or what to make an agent of. */
export type Subagent = SubagentGraph | { readonly graph: SubagentGraph } | SubagentDefinition;

/** A subagent as the supervisor knows it. */
export interface NamedSubagent {
  /** Letters, digits, `_` and `-`: it becomes part of a tool's name. */
  readonly name: string;
  /** What it is good for; the supervisor's model reads this. */
  readonly description: string;
  readonly agent: Subagent;
}
