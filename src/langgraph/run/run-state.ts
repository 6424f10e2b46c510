import type { RunnableConfig } from "@langchain/core/runnables";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { type EventNode, type EventStep, eventNode } from "../../events/event-log.js";
import type { Memory } from "../../memory.js";
import type { Recalled } from "../../rounds/recalled.js";
import { runIdentity } from "./run-identity.js";

/**
 * What this process keeps of each run beside the graph's state: here what its agents were shown and what was recalled
 * for middleware, in the checkpointer which threads it has claimed. It goes with the run.
 *
 * It cannot be state: that is checkpointed, and forgetting must reach everything stored.
 *
 * @param begin what is kept of a new run.
 * @returns finds what is kept of the run of a config; undefined where the config belongs to no run.
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

/** The object that all configs of a run share; undefined for reads and updates by hand. */
export function runOf(config: RunnableConfig): object | undefined {
  const { control } = config as { control?: unknown };
  return typeof control === "object" && control !== null ? control : undefined;
}

/** What was recalled in each run, for each of its identities. */
export function recalledByRun(memory: Memory) {
  const kept = keptByRun(() => new Map<string, Recalled | null>());
  const keyOf = (config: RunnableConfig) => {
    const { scope, threadId } = runIdentity(config, memory);
    return JSON.stringify([scope.tenantId, scope.userId, scope.appId, threadId]);
  };
  return {
    /** Undefined when nothing was recalled in this run. */
    get: (config: RunnableConfig) => {
      const recalled = kept(config);
      // Whose run it is may not be known before anything was recalled, and is not to be asked here.
      return recalled?.size ? recalled.get(keyOf(config)) : undefined;
    },
    set: (config: RunnableConfig, recalled: Recalled | null) => {
      kept(config)?.set(keyOf(config), recalled);
    },
  };
}

/** What the nodes and tools of memory write to a run's stream, in its mode "custom". Never content. */
export interface MemoryStreamEvent {
  /**
   * "memory.recall", "memory.remember", "memory.query", "memory.consent"; "memory.database" where turns go on without
   * memory from then on.
   */
  readonly type: `memory.${string}`;
  /** As in `memory.events`. */
  readonly node: EventNode;
  readonly step: EventStep;
  readonly op: string;
  readonly status: "ok" | "error" | "skipped";
  /** An error code or a reason. */
  readonly detail?: string | undefined;
  /** Counts and ids, by type. */
  readonly [field: string]: unknown;
}

const steps = {
  recall: { step: "recall", op: "search" },
  remember: { step: "remember", op: "create" },
  query: { step: "tool", op: "search" },
  consent: { step: "consent", op: "approve" },
  database: { step: "database", op: "resume" },
} as const satisfies Record<string, { step: EventStep; op: string }>;

/** Writes an event to the stream of the run, if anybody reads it. */
export function streamEvent(
  config: LangGraphRunnableConfig | undefined,
  name: keyof typeof steps,
  status: MemoryStreamEvent["status"],
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const { step, op } = steps[name];
  const event: MemoryStreamEvent = {
    type: `memory.${name}`,
    node: eventNode(step),
    step,
    op,
    status,
    ...fields,
  };
  config?.writer?.(event);
}
