import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { type ShownView, withoutRecalled } from "../checkpointer/forgetful-saver.js";
import type { AgentGraph } from "./agent-graph.js";

// LangGraph does not type these parts. Without them, streams are those of nested graphs.

/** Streams tokens without `subgraphs: true`, and states without recalled messages. */
export async function invokeStreamed(
  agent: AgentGraph,
  input: Values,
  config: LangGraphRunnableConfig,
  shown: ShownView,
): Promise<Record<string, unknown>> {
  const agentConfig = withOwnTokens(withoutRecalledInStream(config, shown));
  // LangGraph prefers the handlers of the node's own config.
  return AsyncLocalStorageProviderSingleton.runWithConfig(agentConfig, () =>
    agent.invoke(input, agentConfig),
  );
}

type Values = Readonly<Record<string, unknown>>;

type GraphStream = {
  push(piece: readonly [readonly string[], string, unknown, ...unknown[]]): void;
};

function withoutRecalledInStream(
  config: LangGraphRunnableConfig,
  shown: ShownView,
): LangGraphRunnableConfig {
  const stream = config.configurable?.__pregel_stream as GraphStream | undefined;
  if (typeof stream?.push !== "function") return config;
  const push: GraphStream["push"] = ([namespace, mode, payload, ...rest]) => {
    // Other modes hold a model's words ("messages") and the agent's own data ("custom").
    const kept = ["values", "updates"].includes(mode) ? withoutRecalled(payload, shown) : payload;
    stream.push([namespace, mode, kept, ...rest]);
  };
  const guarded = Object.create(stream, { push: { value: push } });
  return { ...config, configurable: { ...config.configurable, __pregel_stream: guarded } };
}

/** LangGraph's newer handlers of "messages" and "tools" filter events by it. */
type NamespaceOptions = { readonly subgraphs: boolean; readonly parentNs?: string | undefined };

/**
 * Newer versions of LangGraph stream only the graph's own tokens; callers want the wrapped agent's.
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
  copy.inheritableHandlers = copy.inheritableHandlers.map(
    (handler) => owned.get(handler) ?? handler,
  );
  return { ...config, callbacks: copy };
}
