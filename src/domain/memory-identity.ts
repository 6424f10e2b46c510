import { contentHash } from "./content-hash.js";
import type { MemoryKind } from "./memory.js";
import { searchText } from "./search-text.js";

/**
 * A digest that two memories of an owner share when they say the same. Two stretches of turns stay two episodes, even
 * when they read alike.
 */
export function memoryHash(memory: {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly threadId?: string | null | undefined;
  readonly turnStart?: number | null | undefined;
}): string {
  const { kind, text, threadId, turnStart } = memory;
  const episode = kind === "episode" && threadId != null && turnStart != null;
  return contentHash(episode ? JSON.stringify([threadId, turnStart, text]) : text);
}

/** What of a memory is searched, prepared for `to_tsvector`. */
export function memoryTerms(
  { key, text }: { readonly key?: string | null | undefined; readonly text: string },
  language: string,
): string {
  return searchText([key?.replaceAll("_", " "), text].filter(Boolean).join(" "), language);
}
