import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { ChangedConstants } from "../src/config.js";
import { createMemoryWith } from "../src/create-memory.js";
import type { Memory, MemoryConfig, MemoryDraft, MemoryOptions, Scope } from "../src/index.js";

/** One thread of a user. */
export interface ThreadPlace {
  readonly scope: Scope;
  readonly threadId: string;
}

/** What a user and the agent say in one turn. */
export type Round = readonly [user: string, agent: string];

/**
 * A memory that has only what the benchmark writes: nothing is extracted, and no episodes are made.
 */
export async function openBenchMemory(
  options: MemoryOptions,
  {
    preset,
    memories,
    consolidation,
    retrieval: shown,
    constants = {},
  }: Pick<MemoryConfig, "preset" | "memories" | "consolidation" | "retrieval"> & {
    readonly constants?: ChangedConstants;
  } = {},
): Promise<Memory> {
  const config = {
    preset,
    retrieval: shown,
    memories: { extract: false, episodes: false, ...memories },
    consolidation: { enabled: false, ...consolidation },
  };
  // A busy machine must not turn a slow search into one that found nothing, or had no vectors.
  const retrieval = { timeoutMs: 60_000, embedTimeoutMs: 60_000 };
  const memory = createMemoryWith({ ...options, config }, { retrieval, ...constants });
  await memory.setup();
  return memory;
}

const roundsEach = 100;

/** Appends `said` to `thread`, and throws unless every message is new to it. */
export async function recordTurns(
  memory: Memory,
  thread: ThreadPlace,
  said: readonly Round[],
): Promise<void> {
  for (let start = 0; start < said.length; start += roundsEach) {
    const messages = said.slice(start, start + roundsEach).flatMap(messagesOf);
    const { recorded } = await memory.record({ ...thread, messages });
    if (recorded !== messages.length) {
      throw new Error(
        `${recorded} of ${messages.length} messages were recorded in ${thread.threadId}.`,
      );
    }
  }
}

/** The two messages of a turn. */
export function messagesOf([user, agent]: Round): [HumanMessage, AIMessage] {
  return [new HumanMessage(user), new AIMessage(agent)];
}

/** Adds memories, and throws unless each of them was created. */
export async function addMemories(
  memory: Memory,
  scope: Scope,
  drafts: MemoryDraft | readonly MemoryDraft[],
): Promise<void> {
  const texts = [drafts].flat() as readonly MemoryDraft[];
  const outcomes = await memory.memories.add({ scope, memories: drafts });
  for (const [index, { outcome, problems }] of outcomes.entries()) {
    if (outcome === "created") continue;
    throw new Error(
      `"${texts[index]?.text}" was ${outcome} (${problems.join(", ") || "no problems"}).`,
    );
  }
}
