import { HumanMessage } from "@langchain/core/messages";
import { type LangGraphRunnableConfig, Overwrite, type Send } from "@langchain/langgraph";
import { MemoryError } from "../../errors.js";
import { attempt } from "../../input/plain-json.js";
import { withFields } from "../../messages/message-text.js";
import { memoryKey } from "../run/state-fields.js";

type GraphDefinition = Readonly<Record<string, unknown>>;

/** The parts used here; LangGraph does not type them. */
interface AgentBuilder {
  readonly channels: Readonly<Record<string, AgentChannel>>;
  readonly nodes: Readonly<Record<string, unknown>>;
  readonly _inputDefinition: GraphDefinition;
  readonly _outputDefinition: GraphDefinition;
  readonly _schemaDefinitions: ReadonlyMap<GraphDefinition, GraphDefinition>;
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _outputRuntimeDefinition?: unknown;
  readonly _configRuntimeSchema?: unknown;
  compile(options: Record<string, unknown>): AgentGraph;
}

/** Identified by name, since a second copy of LangGraph has other classes. */
interface AgentChannel {
  readonly lc_graph_name: string;
  readonly operator?: (left: unknown, right: unknown) => unknown;
  readonly reducer?: (left: unknown, writes: unknown[]) => unknown;
}

export interface AgentGraph {
  readonly name?: string | undefined;
  readonly builder: AgentBuilder;
  readonly config?: LangGraphRunnableConfig | undefined;
  readonly streamTransformers?: unknown;
  readonly [compileOption: string]: unknown;
  withConfig(config: LangGraphRunnableConfig): AgentGraph;
  invoke(input: unknown, config: LangGraphRunnableConfig): Promise<Record<string, unknown>>;
}

export interface LooseGraph {
  addNode(name: string, node: unknown, options?: { subgraphs: unknown[] }): LooseGraph;
  addEdge(from: string, to: string): LooseGraph;
  addConditionalEdges(
    from: string,
    next: (state: never) => string | Send[],
    ends: string[],
  ): LooseGraph;
  compile(options?: { name: string }): object;
}

/**
 * @throws MemoryError `INVALID_INPUT` unless it is a compiled graph without memory, whose messages
 * merge by id
 */
export function agentGraph(agent: unknown, messagesKey: string): AgentGraph {
  const given = typeof agent === "object" && agent !== null ? agent : {};
  const graph = ("graph" in given ? given.graph : given) as Partial<AgentGraph>;
  const channels = graph.builder?.channels;
  if (channels === undefined || typeof graph.invoke !== "function")
    throw invalidAgent(
      "a compiled LangGraph graph: call .compile() first, or pass what createAgent returns",
    );
  const messages = channels[messagesKey];
  if (messages === undefined) {
    // LangGraph keeps its edges in channels too.
    const keys = Object.keys(channels).filter((channel) => !/^__|:/.test(channel));
    throw invalidAgent(
      `\`${messagesKey}\` in the agent's state: use MessagesAnnotation, MessagesValue or createAgent, ` +
        `or name the key of its messages: { messagesKey: "…" }. It has ${keys.join(", ")}`,
    );
  }
  if (!mergesById(messages))
    throw invalidAgent(
      `\`${messagesKey}\` that merge by id: give the key messagesStateReducer, or use MessagesValue`,
    );
  if (memoryKey in channels)
    throw invalidAgent(
      `an agent without memory: this one has the state key \`${memoryKey}\` already`,
    );
  return graph as AgentGraph;
}

function invalidAgent(needed: string): MemoryError {
  return new MemoryError("INVALID_INPUT", `withMemory needs ${needed}.`);
}

/** Otherwise messages cannot be replaced or matched with recorded ones. */
function mergesById(channel: AgentChannel): boolean {
  const [before, after] = ["before", "after"].map(
    (text) => new HumanMessage({ id: "same", content: text }),
  );
  const merged = attempt(
    () => channel.operator?.([before], [after]) ?? channel.reducer?.([before], [[after]]),
  );
  return Array.isArray(merged) && merged.length === 1 && merged[0] === after;
}

type GraphValues = Readonly<Record<string, unknown>>;

/** As a subgraph, an agent gets only its input keys and would forget the others between turns. */
export function wholeStateAgent(agent: AgentGraph): AgentGraph {
  const { builder } = agent;
  const state = builder.channels;
  const open = withFields(builder, {
    _schemaDefinitions: new Map(builder._schemaDefinitions).set(state, state),
    _inputDefinition: state,
    _inputRuntimeDefinition: undefined,
    _outputDefinition: state,
  });
  const options = [
    "checkpointer",
    "store",
    "cache",
    "interruptBefore",
    "interruptAfter",
    "name",
    "description",
  ];
  const graph = open.compile({
    ...Object.fromEntries(options.map((option) => [option, agent[option]])),
    transformers: agent.streamTransformers,
  });
  return agent.config === undefined ? graph : graph.withConfig(agent.config);
}

/** Bypasses the agent's reducers, which have run before. */
export function wholeStateInput(builder: AgentBuilder, state: GraphValues): GraphValues {
  const isReduced = (key: string) =>
    ["BinaryOperatorAggregate", "DeltaChannel"].includes(
      builder.channels[key]?.lc_graph_name ?? "",
    );
  const input: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(state))
    input[key] = isReduced(key) ? new Overwrite(value) : value;
  return input;
}

export function wholeStateUpdate(
  builder: AgentBuilder,
  before: GraphValues,
  after: GraphValues,
): GraphValues {
  const changed = Object.entries(after).filter(([key, value]) => value !== before[key]);
  return wholeStateInput(builder, Object.fromEntries(changed));
}
