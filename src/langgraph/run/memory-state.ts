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

/** Ids of the requests that the memory blocks of each run listed, in their order; one list for each block. */
const shown = new WeakMap<object, string[][]>();

/** Notes what an agent of the run is shown. */
export function noteShownConsents(config: LangGraphRunnableConfig, { consents }: Recalled): void {
  if (!config.control) return;
  shown.set(config.control, [...(shown.get(config.control) ?? []), consents.map(({ id }) => id)]);
}

/** Whether an agent of the run was shown the request, so that it was made before the run began to answer. */
export function wasShown(config: LangGraphRunnableConfig, id: string): boolean {
  return listsOf(config).some((list) => list.includes(id));
}

/** The request with that number, from 1; null where there is none, or where the run's agents were shown others by it. */
export function shownAs(config: LangGraphRunnableConfig, number: number): string | null {
  const ids = new Set(listsOf(config).map((list) => list[number - 1]));
  const [id] = ids;
  return ids.size === 1 && id !== undefined ? id : null;
}

function listsOf(config: LangGraphRunnableConfig): readonly (readonly string[])[] {
  return (config.control && shown.get(config.control)) ?? [];
}
