import {
  Annotation,
  type BaseChannel,
  type CompiledStateGraph,
  END,
  type MessagesAnnotation,
  START,
  type StateDefinition,
  StateGraph,
} from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { internalApi } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { askingConsent } from "../nodes/consent-node.js";
import { recalling } from "../nodes/recall-node.js";
import { remembering } from "../nodes/remember-node.js";
import {
  checkOptions,
  type MessagesKeyOption,
  messagesKeyField,
  type TurnOptions,
  turnOptionsSchema,
} from "../run/node-options.js";
import { memoryAnnotation, removedKey } from "../run/state-fields.js";
import { type AgentGraph, agentGraph, type LooseGraph, wholeStateAgent } from "./agent-graph.js";
import { callAgent } from "./call-agent.js";

export interface WithMemoryOptions extends TurnOptions, MessagesKeyOption {
  /** @default the agent's own name, else "agent" */
  readonly agentNode?: string | undefined;
}

export const withMemoryOptions = turnOptionsSchema.extend({
  ...messagesKeyField,
  agentNode: z.string().optional(),
});

export interface CreatedAgent<State extends object, Config = unknown> {
  readonly graph: object;
  // A method, so that agents with a context type are accepted.
  invoke(state: never, config?: Config): Promise<State>;
}

// biome-ignore lint/suspicious/noExplicitAny: parameters of both variances.
export type CompiledAgent = CompiledStateGraph<any, any, any, any, any, any, any, any, any>;

type StateChannels<State> = { [Key in keyof State]: BaseChannel<State[Key]> };
/** `messages` takes messages in all forms. */
type InputChannels<State> = Omit<StateChannels<State>, "messages"> & typeof MessagesAnnotation.spec;

type ContextChannels<Config> = Config extends { context?: infer Context }
  ? [NonNullable<Context>] extends [Record<string, unknown>]
    ? StateChannels<Required<NonNullable<Context>>>
    : StateDefinition
  : StateDefinition;

/** An uncompiled graph with the agent's own state, input, output and context. */
export type WithMemory<Agent> = [Agent] extends [never]
  ? WithMemory<CompiledAgent>
  : Agent extends CompiledStateGraph<
        infer S,
        infer U,
        // biome-ignore lint/suspicious/noExplicitAny: the names of its nodes are not those of the graph around it.
        any,
        infer I,
        infer O,
        infer C,
        infer Returned,
        infer Interrupt,
        infer Written
      >
    ? StateGraph<unknown, S, U, string, I, O, C, Returned, Interrupt, Written>
    : Agent extends CreatedAgent<infer State, infer Config>
      ? StateGraph<
          unknown,
          State,
          Partial<State>,
          string,
          InputChannels<State>,
          StateChannels<State>,
          ContextChannels<Config>
        >
      : never;

/**
 * Adds memory to `agent`: an uncompiled graph recall → agent → remember, to compile with a
 * checkpointer. With `consent.ask: "interrupt"`, a node after recall asks for consent: see
 * `consentNode`.
 *
 * The agent sees the summary, later messages, and the current one. It remains a subgraph that
 * streams and interrupts as before; its state and context pass through. What it removes from its
 * messages stays removed. Streams, states and results hold nothing recalled.
 *
 * The nodes are `memory.recall`, `memory.consent`, the agent by its name (`agentNode`), and
 * `memory.remember`. The agent's own nodes appear with `subgraphs: true`.
 * @example
 * ```ts
 * const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
 * await graph.invoke(
 *   { messages: [{ role: "user", content: "Hi" }] },
 *   { configurable: { thread_id: "t1", user_id: "ana" } },
 * );
 * ```
 * @param agent any compiled graph whose state has messages, or what `createAgent` returns.
 * @throws MemoryError `INVALID_INPUT` for another kind of agent, an `agentNode` that is taken, and
 * unknown options
 */
export function withMemory<Agent extends CompiledAgent | CreatedAgent<object>>(
  agent: Agent,
  memory: Memory,
  options: WithMemoryOptions = {},
): WithMemory<Agent> {
  checkOptions(memory, withMemoryOptions, options, "withMemory");
  const graph = agentGraph(agent, options.messagesKey ?? "messages");
  const { builder } = graph;
  const wrapped = new StateGraph({
    state: { ...builder.channels, ...memoryAnnotation.spec, [removedKey]: Annotation<string[]>() },
    input: builder._inputDefinition,
    output: builder._outputDefinition,
    context: builder._configRuntimeSchema,
  } as unknown as ConstructorParameters<typeof StateGraph>[0]) as unknown as LooseGraph;
  // Callers and Studio see the agent's own schemas.
  const { _schemaRuntimeDefinition, _inputRuntimeDefinition, _outputRuntimeDefinition } = builder;
  Object.assign(wrapped, {
    _schemaRuntimeDefinition,
    _inputRuntimeDefinition,
    _outputRuntimeDefinition,
  });

  // Streams and states go to browsers: only the agent's keys are shown.
  const compile = wrapped.compile.bind(wrapped);
  const streamChannels = Object.keys(builder.channels);
  wrapped.compile = (compileOptions) => Object.assign(compile(compileOptions), { streamChannels });
  const nodes = nodeNames(graph, options.agentNode);
  const inner = wholeStateAgent(graph);
  wrapped
    .addNode(nodes.recall, recalling(memory, options))
    .addNode(nodes.agent, callAgent(inner, memory, options), { subgraphs: [inner] })
    .addNode(nodes.remember, remembering(memory, options));
  if (internalApi(memory).consentAsk() === "interrupt") {
    wrapped.addNode(nodes.consent, askingConsent(memory, options));
    wrapped.addEdge(nodes.recall, nodes.consent).addEdge(nodes.consent, nodes.agent);
  } else {
    wrapped.addEdge(nodes.recall, nodes.agent);
  }
  return wrapped
    .addEdge(START, nodes.recall)
    .addEdge(nodes.agent, nodes.remember)
    .addEdge(nodes.remember, END) as unknown as WithMemory<Agent>;
}

/** LangGraph refuses state keys, duplicates and characters of its namespaces. */
function nodeNames(graph: AgentGraph, wanted: string | undefined) {
  const taken = new Set(Object.keys(graph.builder.channels));
  const free = (name: string): string => {
    const candidate = taken.has(name) ? free(`${name}_`) : name;
    taken.add(candidate);
    return candidate;
  };
  const [recall, remember] = [free("memory.recall"), free("memory.remember")];
  const consent = free("memory.consent");
  if (wanted !== undefined && (taken.has(wanted) || /^$|[|:]|^__(start|end)__$/.test(wanted)))
    throw new MemoryError(
      "INVALID_INPUT",
      `agentNode "${wanted}" is taken or reserved: choose another name.`,
    );
  const own = graph.name === undefined || graph.name === "LangGraph" ? "" : graph.name;
  return { recall, consent, remember, agent: wanted ?? free(own.replace(/[|:]/g, "_") || "agent") };
}
