import type { BaseMessage } from "@langchain/core/messages";
import { Annotation, type LangGraphRunnableConfig, UntrackedValue } from "@langchain/langgraph";
import { UntrackedValueChannel } from "@langchain/langgraph/web";
import { z } from "zod";
import type { ZodType as ZodTypeV3 } from "zod/v3";
import { MemoryError } from "../../errors.js";
import { type Recalled, shownIn, withMessages } from "../../prompt/recalled.js";

export const memoryKey = "mnemograph";

/** Ids that the agent removed and the transcript would restore. */
export const removedKey = "mnemographRemoved";

/** Never checkpointed: forgetting must reach everything stored. */
export interface MemoryState {
  /** Undefined before recall and in a resumed run; null when recall failed. */
  [memoryKey]?: Recalled | null | undefined;
}

/** The compiler infers the messages' key from it. */
export type MemoryUpdate<Key extends string> = MemoryState & { [K in Key]?: BaseMessage[] };

/** To spread into a `StateSchema`. */
export const memoryStateFields = {
  [memoryKey]: new UntrackedValue<Recalled | null | undefined>(undefined, { guard: false }),
};

/** For `Annotation.Root`: spread `memoryAnnotation.spec`. */
export const memoryAnnotation = Annotation.Root({
  [memoryKey]: () => new UntrackedValueChannel<Recalled | null | undefined>({ guard: false }),
});

/**
 * For zod 3 and 4: `MessagesZodState.extend(memoryFields)` or `z.object({ …, ...memoryFields })`.
 */
export const memoryFields = { [memoryKey]: fieldOfBothVersions() };

type InState = Recalled | null | undefined;

function fieldOfBothVersions() {
  const field = z.unknown().optional();
  return Object.assign(field, {
    // Zod 3 calls these on a field.
    _parse: ({ data }: { data: unknown }) => ({ status: "valid", value: data }),
    optional: () => field,
  }) as unknown as z.ZodOptional<z.ZodType<InState>> & ZodTypeV3<InState>;
}

/** Serialises to ids only, for streams and checkpoints. */
export function toState(recalled: Recalled): Recalled {
  const { summary, memories } = recalled;
  const inJson = {
    summaryId: summary?.id ?? null,
    memoryIds: shownIn(memories).map(({ memory }) => memory.id),
  };
  return Object.defineProperty({ ...recalled }, "toJSON", { value: () => inJson });
}

/** Undefined also for a checkpointed value, which holds only ids. */
export function fromState(recalled: Recalled | null | undefined): Recalled | null | undefined {
  return recalled && !("memories" in recalled) ? undefined : recalled;
}

/** The transcript keeps what the agent removed, but does not show it again. */
export function withoutRemoved(recalled: Recalled, removed: readonly string[]): Recalled {
  return withMessages(recalled, ({ id }) => id === undefined || !removed.includes(id));
}

/** @throws MemoryError `INVALID_INPUT` without the key or a list in it */
export function messagesOf(
  state: Readonly<Record<string, unknown>>,
  messagesKey: string,
  config: LangGraphRunnableConfig,
  node: string,
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

/** LangGraph silently drops updates without a key. @throws MemoryError `INVALID_INPUT` */
export function requireMemoryKey(config: LangGraphRunnableConfig, messagesKey = "messages"): void {
  // A functional entrypoint has no keys; its caller gets the result.
  if (isWithoutKey(config, messagesKey) || !isWithoutKey(config, memoryKey)) return;
  throw new MemoryError(
    "INVALID_INPUT",
    `The graph's state has no key \`${memoryKey}\`, so what recallNode finds would be lost. Add it where the state is defined: ` +
      "Annotation.Root({ …, ...memoryAnnotation.spec }), new StateSchema({ …, ...memoryStateFields }), " +
      "or of zod MessagesZodState.extend(memoryFields).",
  );
}

/** Outside a graph, only false is certain. */
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
