import type { BaseMessage } from "@langchain/core/messages";
import { getCurrentTaskInput, type LangGraphRunnableConfig } from "@langchain/langgraph";

/** The messages in the state of the graph that a tool is called in; none outside a graph. */
export function toolMessages(config: LangGraphRunnableConfig & { readonly state?: unknown }): BaseMessage[] {
  // Newer tool nodes give the state; older ones leave it to be looked up.
  const state = config.state ?? currentInput(config);
  const messages = Array.isArray(state) ? state : (state as { messages?: unknown } | undefined)?.messages;
  return Array.isArray(messages) ? messages : [];
}

/** Undefined outside a graph. */
function currentInput(config: LangGraphRunnableConfig): unknown {
  return config.configurable?.__pregel_scratchpad ? getCurrentTaskInput(config) : undefined;
}
