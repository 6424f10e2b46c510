import type { RunnableConfig } from "@langchain/core/runnables";
import type { Memory } from "../../memory.js";
import { keptByRun } from "./run-state.js";

/** How the user of a run can be asked about what waits for consent. */
export interface ConsentChannel {
  /** By whatever way. */
  readonly asks: boolean;
  /** By the agent, which has a tool to say what the user decided. */
  readonly byAgent: boolean;
}

/** What tools for consent are marked with: see `memoryTool`. */
export const consentCall = "memory.consent";

/** Deepest graph in a graph that is looked into. */
const mostDepth = 8;

/** Whether `tool` is a tool for consent. */
export function isConsentTool(tool: unknown): boolean {
  const { metadata } = (tool ?? {}) as { metadata?: { memoryTool?: unknown } };
  return metadata?.memoryTool === consentCall;
}

/** Whether a graph, or one within it, has a node that runs a tool for consent. */
export function hasConsentTool(graph: unknown, depth = 0): boolean {
  const { builder } = (graph ?? {}) as { builder?: { nodes?: Record<string, unknown> } };
  if (depth > mostDepth || typeof builder?.nodes !== "object") return false;
  return Object.values(builder.nodes).some((node) => {
    const { runnable, subgraphs = [] } = node as { runnable?: { tools?: unknown }; subgraphs?: unknown[] };
    if (Array.isArray(runnable?.tools) && runnable.tools.some(isConsentTool)) return true;
    return [runnable, ...subgraphs].some((inner) => hasConsentTool(inner, depth + 1));
  });
}

const toolsMade = new WeakSet<Memory>();

/** Notes that a tool for consent was made of `memory`: of nodes placed by hand, nothing else tells. */
export function noteConsentTool(memory: Memory): void {
  toolsMade.add(memory);
}

const noted = keptByRun(() => ({ asks: false, byAgent: false, isKnown: false }));

/** Notes how the user of this run can be asked; with `isKnown`, that there is no other way. */
export function noteChannel(
  config: RunnableConfig,
  { asks = false, byAgent = false, isKnown = false }: Partial<ConsentChannel> & { isKnown?: boolean },
): void {
  const kept = noted(config);
  if (!kept) return;
  kept.byAgent ||= byAgent;
  kept.asks ||= asks || byAgent;
  kept.isKnown ||= isKnown;
}

/** How the user of this run can be asked, as far as it was noted. Where nobody knows, a tool that was made counts. */
export function channelOf(config: RunnableConfig, memory: Memory): ConsentChannel {
  const { asks = false, byAgent = false, isKnown = false } = noted(config) ?? {};
  const made = !isKnown && toolsMade.has(memory);
  return { asks: asks || made, byAgent: byAgent || made };
}
