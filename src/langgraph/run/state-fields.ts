import type { BaseMessage } from "@langchain/core/messages";
import { Annotation, type LangGraphRunnableConfig, UntrackedValue } from "@langchain/langgraph";
import { UntrackedValueChannel } from "@langchain/langgraph/web";
import { z } from "zod";
import type { ZodType as ZodTypeV3 } from "zod/v3";
import { MemoryError } from "../../errors.js";
import { memoryParts, partOf, type Recalled } from "../../rounds/recalled.js";

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

/**
 * The same for states in zod: `MessagesZodState.extend(memoryFields)`, or `z.object({ …, ...memoryFields })`.
 *
 * LangGraph's own zod state is of version 3, those that people write mostly of version 4; the field is a schema of
 * both.
 */
export const memoryFields = { [memoryKey]: fieldOfBothVersions<Recalled | null | undefined>() };

type FieldOfBothVersions<Value> = z.ZodOptional<z.ZodType<Value>> & ZodTypeV3<Value>;

function fieldOfBothVersions<Value>(): FieldOfBothVersions<Value> {
  const field = z.unknown().optional();
  return Object.assign(field, {
    // What an object of version 3 calls of its fields.
    _parse: ({ data }: { data: unknown }) => ({ status: "valid", value: data }),
    optional: () => field,
  }) as unknown as FieldOfBothVersions<Value>;
}

/**
 * `recalled` as it stands in a state: written as JSON, which streams to browsers and checkpoints are, it is only the ids
 * of what was recalled.
 */
export function toState(recalled: Recalled): Recalled {
  const { summary, memories } = recalled;
  const shown = memoryParts.flatMap((part) => partOf(memories, part));
  const inJson = { summaryId: summary?.id ?? null, memoryIds: shown.map(({ id }) => id) };
  return Object.defineProperty({ ...recalled }, "toJSON", { value: () => inJson });
}

/** What a state holds of `recalled`; undefined also for what came back from a checkpoint, which holds ids only. */
export function fromState(recalled: Recalled | null | undefined): Recalled | null | undefined {
  return recalled && !("memories" in recalled) ? undefined : recalled;
}

/** The messages in `state`. @throws MemoryError `INVALID_INPUT` where the graph has no such key, or it holds others. */
export function messagesOf(
  state: Readonly<Record<string, unknown>>,
  { messagesKey = "messages", config, node }: NodeOfState,
): BaseMessage[] {
  const messages = state[messagesKey];
  if (Array.isArray(messages)) return messages as BaseMessage[];
  if (messages === undefined && !isWithoutKey(config, messagesKey)) return [];
  throw new MemoryError(
    "INVALID_INPUT",
    `${node} finds no list of messages under the key \`${messagesKey}\` of the graph's state. ` +
      'Name the key that has them: { messagesKey: "…" }.',
  );
}

interface NodeOfState {
  readonly messagesKey: string | undefined;
  readonly config: LangGraphRunnableConfig;
  readonly node: string;
}

/**
 * Sees to it that the graph has room for what a recall node returns: LangGraph drops what no key takes, without a word,
 * and the agent would be shown nothing.
 *
 * @throws MemoryError `INVALID_INPUT`
 */
export function requireMemoryKey(config: LangGraphRunnableConfig, messagesKey = "messages"): void {
  // A functional entrypoint has no keys, and who calls the node there has what it returns.
  if (isWithoutKey(config, messagesKey) || !isWithoutKey(config, memoryKey)) return;
  throw new MemoryError(
    "INVALID_INPUT",
    `The graph's state has no key \`${memoryKey}\`, so what recallNode finds would be lost. Add it where the state is defined: ` +
      "Annotation.Root({ …, ...memoryAnnotation.spec }), new StateSchema({ …, ...memoryStateFields }), " +
      "or of zod MessagesZodState.extend(memoryFields).",
  );
}

/** Whether the graph that runs surely has no such key. By hand, outside of any graph, nobody knows. */
function isWithoutKey({ configurable }: LangGraphRunnableConfig, key: string): boolean {
  const read: unknown = configurable?.__pregel_read;
  if (typeof read !== "function") return false;
  try {
    read(key);
    return false;
  } catch {
    return true;
  }
}
