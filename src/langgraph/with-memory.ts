import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import {
  BinaryOperatorAggregate,
  type CompiledStateGraph,
  END,
  type LangGraphRunnableConfig,
  Overwrite,
  START,
  type StateDefinitionInit,
  StateGraph,
} from "@langchain/langgraph";
import { MemoryError } from "../errors.js";
import type { Memory } from "../memory.js";
import { type MemoryState, memoryAnnotation, memoryKey } from "./memory-state.js";
import { type InjectAs, modelView } from "./model-view.js";
import type { OnError } from "./on-error.js";
import { recallNode } from "./recall-node.js";
import { isRecalled } from "./recalled-mark.js";
import { rememberNode, type SessionMode } from "./remember-node.js";

/** How `withMemory` wraps an agent. */
export interface WithMemoryOptions {
  /** "bounded" removes summarised messages from the graph's state, so that checkpoints stop growing with the square of the conversation. @default "full" */
  readonly session?: SessionMode;
  /** Where the memory block goes. @default "system" */
  readonly injectAs?: InjectAs;
  /** Whether a failed recall or remember ends the turn. @default "continue" */
  readonly onError?: OnError;
  /** Name of the agent's node. @default the agent's own name, else "agent" */
  readonly agentNode?: string;
}

type Definition = Record<string, unknown>;

/** What is read of a compiled graph to build another around it. */
interface AgentGraph {
  readonly name?: string | undefined;
  readonly builder: unknown;
  invoke(input: unknown, config: LangGraphRunnableConfig): Promise<unknown>;
}
interface AgentBuilder {
  readonly _schemaDefinition: Definition;
  readonly _inputDefinition: Definition;
  readonly _outputDefinition: Definition;
  readonly _configRuntimeSchema?: unknown;
  readonly channels: Readonly<Record<string, unknown>>;
}
type AgentState = { messages: BaseMessage[] } & MemoryState & Record<string, unknown>;

/**
 * `agent` with memory: an uncompiled graph recall → agent → remember, to compile with a checkpointer.
 *
 * The agent is shown the summary of the conversation, what came after it, and the current message. It stays
 * visible as a subgraph, streams and interrupts as before, and its own state and context pass through.
 *
 * @param agent any compiled graph whose state has `messages`, or what `createAgent` returns.
 * @throws MemoryError `INVALID_INPUT` when the agent is not such a graph.
 */
export function withMemory<
  S,
  U,
  N extends string,
  I extends StateDefinitionInit,
  O extends StateDefinitionInit,
  C extends StateDefinitionInit,
>(
  agent: CompiledStateGraph<S, U, N, I, O, C> | { readonly graph: CompiledStateGraph<S, U, N, I, O, C> },
  memory: Memory,
  options: WithMemoryOptions = {},
): StateGraph<unknown, S, U, string, I, O, C> {
  const graph = ("graph" in agent ? agent.graph : agent) as unknown as AgentGraph;
  const builder = graph.builder as AgentBuilder | undefined;
  if (!builder?.channels || !("messages" in builder.channels)) {
    throw new MemoryError(
      "INVALID_INPUT",
      "withMemory needs a compiled LangGraph graph with `messages` in its state: call .compile() first, " +
        "and use MessagesAnnotation, MessagesValue or createAgent.",
    );
  }
  const fields = memoryAnnotation.spec;
  const agentNode = options.agentNode ?? agentName(graph);
  const wrapped = new StateGraph({
    state: { ...builder._schemaDefinition, ...fields },
    input: builder._inputDefinition,
    output: builder._outputDefinition,
    context: builder._configRuntimeSchema,
  } as unknown as ConstructorParameters<typeof StateGraph>[0]) as unknown as LooseGraph;

  return wrapped
    .addNode("memory.recall", recallNode(memory, options))
    .addNode(agentNode, callAgent(graph, builder, memory, options), { subgraphs: [graph] })
    .addNode("memory.remember", rememberNode(memory, options))
    .addEdge(START, "memory.recall")
    .addEdge("memory.recall", agentNode)
    .addEdge(agentNode, "memory.remember")
    .addEdge("memory.remember", END) as unknown as StateGraph<unknown, S, U, string, I, O, C>;
}

/** The builder without the state's types, which only the caller knows. */
interface LooseGraph {
  addNode(name: string, node: unknown, options?: { subgraphs: unknown[] }): LooseGraph;
  addEdge(from: string, to: string): LooseGraph;
}

/** "LangGraph" is what LangGraph calls a graph compiled without a name. */
function agentName(graph: AgentGraph): string {
  return graph.name === undefined || graph.name === "" || graph.name === "LangGraph" ? "agent" : graph.name;
}

function callAgent(agent: AgentGraph, builder: AgentBuilder, memory: Memory, options: WithMemoryOptions) {
  const recallAgain = recallNode(memory, options);
  return async (state: AgentState, config: LangGraphRunnableConfig): Promise<Record<string, unknown>> => {
    const { [memoryKey]: kept, ...own } = state;
    // What was recalled is not checkpointed: a run resumed here has lost it.
    const recalled = kept ?? (await recallAgain(state, config))[memoryKey];
    const view = recalled
      ? modelView(state.messages, recalled, options.injectAs ?? "system")
      : state.messages;
    const output = (await agent.invoke({ ...own, messages: view }, config)) as AgentState;

    const update: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(output)) {
      // The agent's reducers have already run inside it; running them again here would count twice.
      update[key] = builder.channels[key] instanceof BinaryOperatorAggregate ? new Overwrite(value) : value;
    }
    if (output.messages) update.messages = messageUpdate(state.messages, view, output.messages);
    return update;
  };
}

/** What the agent did to its messages: those it added, changed or removed, without what was recalled. */
function messageUpdate(state: BaseMessage[], view: BaseMessage[], output: BaseMessage[]): BaseMessage[] {
  const stateIds = new Set(state.map((message) => message.id));
  const outputIds = new Set(output.map((message) => message.id));
  const recalledOnly = new Set(
    view.filter((message) => isRecalled(message) || !stateIds.has(message.id)).map((message) => message.id),
  );
  const changed = output.filter(
    (message) => !view.includes(message) && !isRecalled(message) && !recalledOnly.has(message.id),
  );
  const removed = view.flatMap((message) =>
    message.id !== undefined && stateIds.has(message.id) && !outputIds.has(message.id)
      ? [new RemoveMessage({ id: message.id })]
      : [],
  );
  return [...removed, ...changed];
}
