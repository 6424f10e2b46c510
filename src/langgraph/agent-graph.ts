import { HumanMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { MemoryError } from "../errors.js";
import { memoryKey } from "./memory-state.js";

/** A state definition: names of keys and their channels. */
type Definition = Readonly<Record<string, unknown>>;

/** What is read of the builder behind a compiled graph; it is not part of LangGraph's typed interface. */
export interface AgentBuilder {
  readonly channels: Readonly<Record<string, AgentChannel>>;
  readonly _inputDefinition: Definition;
  readonly _outputDefinition: Definition;
  readonly _schemaDefinitions: ReadonlyMap<Definition, Definition>;
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _outputRuntimeDefinition?: unknown;
  readonly _configRuntimeSchema?: unknown;
  compile(options: Record<string, unknown>): AgentGraph;
}

/** A channel of any kind. Told apart by name, since a second copy of LangGraph has other classes. */
export interface AgentChannel {
  readonly lc_graph_name: string;
  readonly operator?: (left: unknown, right: unknown) => unknown;
  readonly reducer?: (left: unknown, writes: unknown[]) => unknown;
}

/** What is read of a compiled graph to build another around it. */
export interface AgentGraph {
  readonly name?: string | undefined;
  readonly builder: AgentBuilder;
  readonly config?: LangGraphRunnableConfig | undefined;
  readonly streamTransformers?: unknown;
  readonly [compileOption: string]: unknown;
  withConfig(config: LangGraphRunnableConfig): AgentGraph;
  invoke(input: unknown, config: LangGraphRunnableConfig): Promise<Record<string, unknown>>;
}

/**
 * The graph of `agent`: itself, or that of what `createAgent` returns.
 *
 * @throws MemoryError `INVALID_INPUT` when it is not a compiled graph with `messages` that merge by id, or
 *   has memory already.
 */
export function agentGraph(agent: object): AgentGraph {
  const graph = ("graph" in agent ? agent.graph : agent) as Partial<AgentGraph>;
  const channels = graph.builder?.channels;
  if (channels === undefined || typeof graph.invoke !== "function") {
    throw invalid("a compiled LangGraph graph: call .compile() first, or pass what createAgent returns");
  }
  if (!("messages" in channels)) {
    throw invalid("`messages` in the agent's state: use MessagesAnnotation, MessagesValue or createAgent");
  }
  if (!mergesById(channels.messages)) {
    throw invalid("`messages` that merge by id: give the key messagesStateReducer, or use MessagesValue");
  }
  if (memoryKey in channels) {
    throw invalid(`an agent without memory: this one has the state key \`${memoryKey}\` already`);
  }
  return graph as AgentGraph;
}

function invalid(needed: string): MemoryError {
  return new MemoryError("INVALID_INPUT", `withMemory needs ${needed}.`);
}

/** Without merging by id, messages could be neither replaced nor told apart from those already recorded. */
function mergesById(channel: AgentChannel | undefined): boolean {
  const [before, after] = ["before", "after"].map((text) => new HumanMessage({ id: "same", content: text }));
  try {
    const merged = channel?.operator?.([before], [after]) ?? channel?.reducer?.([before], [[after]]);
    return Array.isArray(merged) && merged.length === 1 && merged[0] === after;
  } catch {
    return false;
  }
}
