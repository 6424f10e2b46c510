import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { type EventNode, type EventStep, eventNode } from "../domain/event-step.js";

/** What the nodes and tools of memory write to a run's stream, in its mode "custom". Never content. */
export interface MemoryStreamEvent {
  /** "memory.recall", "memory.remember", "memory.query", "memory.consent". */
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
