import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { type ShownView, withoutRecalled } from "../checkpointer/forgetful-saver.js";
import type { AgentGraph } from "./agent-graph.js";

// What is read here of LangGraph is not part of its typed interface, so all of it may be missing: then streams are as
// LangGraph has them for a graph in a graph.

/**
 * What `agent` gives in a node of the graph around it, in whose streams it shows as it would alone: its tokens come
 * without `subgraphs: true`, and its values and updates hold nothing of what memory shows it.
 */
export async function invokeStreamed(
  agent: AgentGraph,
  input: Values,
  config: LangGraphRunnableConfig,
  shown: ShownView,
): Promise<Record<string, unknown>> {
  const agentConfig = withOwnTokens(withoutRecalledInStream(config, shown));
  // LangGraph merges what it is given with the node's own config, and of two such handlers takes the node's.
  return AsyncLocalStorageProviderSingleton.runWithConfig(agentConfig, () =>
    agent.invoke(input, agentConfig),
  );
}

type Values = Readonly<Record<string, unknown>>;

/** What streams of subgraphs go to: pieces of [namespace, mode, payload]. */
interface GraphStream {
  push(piece: readonly [readonly string[], string, unknown, ...unknown[]]): void;
}

/** Streams reach browsers. "messages" holds what models say, and "custom" is the agent's own. */
const statesInStream = new Set(["values", "updates"]);

function withoutRecalledInStream(config: LangGraphRunnableConfig, shown: ShownView): LangGraphRunnableConfig {
  const stream = config.configurable?.__pregel_stream as GraphStream | undefined;
  if (typeof stream?.push !== "function") return config;
  const push: GraphStream["push"] = ([namespace, mode, payload, ...rest]) =>
    stream.push([
      namespace,
      mode,
      statesInStream.has(mode) ? withoutRecalled(payload, shown) : payload,
      ...rest,
    ]);
  const guarded = Object.create(stream, { push: { value: push } });
  return { ...config, configurable: { ...config.configurable, __pregel_stream: guarded } };
}

/** What newer versions of LangGraph give the handlers behind "messages" and "tools": whose events they let through. */
interface NamespaceOptions {
  readonly subgraphs: boolean;
  /** The graph that is streamed; undefined where it is the outermost. */
  readonly parentNs?: string | undefined;
}

/**
 * Newer versions of LangGraph stream tokens of the graph itself only, and none of its subgraphs. Whoever wrapped an agent
 * asks for the agent's.
 */
function withOwnTokens(config: LangGraphRunnableConfig): LangGraphRunnableConfig {
  const callbacks = config.callbacks as CallbackManager | undefined;
  const agentNs: unknown = config.configurable?.checkpoint_ns;
  if (typeof callbacks?.copy !== "function" || typeof agentNs !== "string") return config;
  const graphNs = agentNs.split("|").slice(0, -1).join("|");
  const own = (handler: CallbackManager["handlers"][number]) => {
    const { namespaceOptions } = handler as { namespaceOptions?: NamespaceOptions };
    if (namespaceOptions?.subgraphs !== false || (namespaceOptions.parentNs ?? "") !== graphNs)
      return handler;
    return Object.create(handler, {
      namespaceOptions: { value: { ...namespaceOptions, parentNs: agentNs } },
    });
  };
  const owned = new Map(callbacks.handlers.map((handler) => [handler, own(handler)]));
  const copy = callbacks.copy();
  copy.handlers = copy.handlers.map((handler) => owned.get(handler) ?? handler);
  copy.inheritableHandlers = copy.inheritableHandlers.map((handler) => owned.get(handler) ?? handler);
  return { ...config, callbacks: copy };
}
