import type { RunnableConfig } from "@langchain/core/runnables";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import {
  type Action,
  actions,
  type EventNode,
  type EventStep,
  eventNode,
} from "../../observability/events/event-log.js";
import type { Recalled } from "../../prompt/recalled.js";
import { graphNamespace } from "./run-identity.js";

/**
 * A value of each run; undefined outside. Not state, which is checkpointed, out of reach of
 * forgetting.
 */
export function keptByRun<Kept>(begin: () => Kept): (config: RunnableConfig) => Kept | undefined {
  const runs = new WeakMap<object, Kept>();
  return (config) => {
    const run = runOf(config);
    if (!run) return undefined;
    const kept = runs.get(run) ?? begin();
    runs.set(run, kept);
    return kept;
  };
}

/**
 * What all configs of a run share, and no other run; undefined outside a run. A middleware's
 * runtime has the writer.
 */
export function runOf(config: RunnableConfig): object | undefined {
  const { control, writer } = config as { control?: unknown; writer?: unknown };
  if (typeof control === "object" && control !== null) return control;
  return typeof writer === "function" ? writer : undefined;
}

export function recalledByRun() {
  const kept = keptByRun(() => new Map<string, Recalled | null>());
  const keyOf = (config: RunnableConfig) =>
    JSON.stringify([graphNamespace(config), config.configurable?.thread_id]);
  return {
    get: (config: RunnableConfig) => kept(config)?.get(keyOf(config)),
    set: (config: RunnableConfig, recalled: Recalled | null) =>
      kept(config)?.set(keyOf(config), recalled),
  };
}

/** What nodes and tools of memory write to the stream mode "custom", without content. */
export interface MemoryStreamEvent {
  /**
   * "memory.recall", "memory.remember", "memory.query", "memory.consent"; "memory.database" for a
   * pause.
   */
  readonly type: `memory.${string}`;
  readonly node: EventNode;
  readonly step: EventStep;
  readonly op: string;
  readonly status: "ok" | "error" | "skipped";
  /** An error code or a reason. */
  readonly detail?: string | undefined;
  readonly [field: string]: unknown;
}

export function streamEvent(
  config: LangGraphRunnableConfig | undefined,
  name: Action,
  status: MemoryStreamEvent["status"],
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const { step, op } = actions[name];
  const where = { type: `memory.${name}`, node: eventNode(step), step, op } as const;
  config?.writer?.({ ...where, status, ...fields } satisfies MemoryStreamEvent);
}
