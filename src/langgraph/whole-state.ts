import { Overwrite } from "@langchain/langgraph";
import type { AgentBuilder, AgentChannel, AgentGraph } from "./agent-graph.js";

type Values = Readonly<Record<string, unknown>>;

/**
 * `agent`, taking and giving every key of its state.
 *
 * As a subgraph LangGraph would hand it the keys of its input schema only, and so it would forget the others
 * from turn to turn. The graph around it validates what the caller sends.
 */
export function wholeStateAgent(agent: AgentGraph): AgentGraph {
  const { builder } = agent;
  const state = builder.channels;
  const open: AgentBuilder = Object.assign(Object.create(Object.getPrototypeOf(builder)), builder, {
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

/** `state` as input that becomes the agent's state as it is, past its reducers: they ran when it came about. */
export function wholeStateInput(builder: AgentBuilder, state: Values): Values {
  return mapValues(state, (key, value) => (isReduced(builder.channels[key]) ? new Overwrite(value) : value));
}

/** What is new in `after`, as an update that becomes the state as it is. */
export function wholeStateUpdate(builder: AgentBuilder, before: Values, after: Values): Values {
  const changed = Object.entries(after).filter(([key, value]) => value !== before[key]);
  return wholeStateInput(builder, Object.fromEntries(changed));
}

function isReduced(channel: AgentChannel | undefined): boolean {
  return channel?.lc_graph_name === "BinaryOperatorAggregate" || channel?.lc_graph_name === "DeltaChannel";
}

function mapValues(values: Values, map: (key: string, value: unknown) => unknown): Values {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(key, value)]));
}
