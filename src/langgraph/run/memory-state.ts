import { Annotation, type LangGraphRunnableConfig, UntrackedValue } from "@langchain/langgraph";
import { UntrackedValueChannel } from "@langchain/langgraph/web";
import { type EventNode, type EventStep, eventNode } from "../../events/event-log.js";
import type { Recalled } from "../../rounds/recalled.js";

/** The state key that the memory nodes use. */
export const memoryKey = "mnemograph";

/** What the memory nodes keep in a graph's state. Never checkpointed: forgetting must reach everything stored. */
export interface MemoryState {
  /** Undefined before recall, and in a run resumed after it; null when recall failed and the turn goes on. */
  [memoryKey]?: Recalled | null | undefined;
}

/** Fields to spread into a `StateSchema` of one's own. */
export const memoryStateFields = {
  [memoryKey]: new UntrackedValue<Recalled | null | undefined>(undefined, { guard: false }),
};

/** The same for `Annotation.Root`: spread `memoryAnnotation.spec`. */
export const memoryAnnotation = Annotation.Root({
  [memoryKey]: () => new UntrackedValueChannel<Recalled | null | undefined>({ guard: false }),
});

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
