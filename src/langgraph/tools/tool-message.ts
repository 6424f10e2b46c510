import type { BaseMessage } from "@langchain/core/messages";
import { getCurrentTaskInput, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { MemoryError } from "../../errors.js";

/**
 * `name`, if every provider accepts it as a tool's name.
 *
 * @throws MemoryError `INVALID_INPUT`
 */
export function requireToolName(name: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name;
  throw new MemoryError(
    "INVALID_INPUT",
    `"${name}" cannot be a tool's name: providers accept 1 to 64 of a–z, A–Z, 0–9, _ and -.`,
  );
}

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
