import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { seeded, sentence } from "./sentences.js";

/** A user and what is remembered of them. */
export interface Owner {
  readonly userId: string;
  readonly texts: readonly string[];
  /**
   * The thread the memories were learned from, the first from its first round, and so on.
   * @default none
   */
  readonly threadId?: string;
}

/** A memory to load. */
export interface LoadedMemory {
  readonly userId: string;
  readonly text: string;
  readonly vector: readonly number[];
  /** The user's message it was learned from; null for a memory without a source. */
  readonly source: { readonly threadId: string; readonly seq: number } | null;
}

/** Users who make up the rest of a table. */
const others = 400;

/**
 * A name of fixed width: none is the beginning of another. LangGraph's stores find namespaces by
 * prefix, and "user50" would find what is "user5000"'s.
 */
export function fixedName(kind: string, number: number): string {
  return `${kind}-${String(number).padStart(6, "0")}`;
}

/** `count` sentences, the same for the same seed. */
export function sentences(count: number, seed: number): string[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => sentence(random));
}

/**
 * A table of `rows` memories: those of `owners`, and of others up to that number. They lie as they
 * come in life, where everybody's memories come between those of one user.
 */
export async function makeCorpus(
  owners: readonly Owner[],
  rows: number,
  embeddings: EmbeddingsInterface,
): Promise<LoadedMemory[]> {
  const own = owners.flatMap(({ userId, texts, threadId }) =>
    texts.map((text, index) => ({
      userId,
      text,
      source: threadId === undefined ? null : { threadId, seq: index * 2 },
    })),
  );
  if (own.length > rows)
    throw new Error(`${own.length} memories do not fit into a table of ${rows}.`);
  const rest = sentences(rows - own.length, 7).map((text, index) => ({
    userId: fixedName("other", index % others),
    text,
    source: null,
  }));
  const mixed = shuffled([...own, ...rest], seeded(3));
  const vectors = await embeddings.embedDocuments(mixed.map(({ text }) => text));
  return mixed.map((memory, index) => ({ ...memory, vector: vectors[index] as number[] }));
}

/** In an order of its own (Fisher and Yates). */
function shuffled<Item>(items: Item[], random: () => number): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as Item, items[last] as Item];
  }
  return items;
}
