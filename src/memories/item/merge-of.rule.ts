import type { MemoryItem } from "./memory.js";
import { boundedMetadata } from "./memory-metadata.rule.js";

export type Mergeable = Pick<
  MemoryItem,
  "importance" | "confidence" | "pinned" | "tags" | "metadata" | "expiresAt" | "seenCount"
>;

/** As many as a draft may have. */
const maxTags = 32;

/**
 * `kept` after `gone` was merged into it: the higher ratings, the tags and metadata of both, the
 * later expiry, and all sightings.
 */
export function mergeOf<Kept extends Mergeable>(kept: Kept, gone: Mergeable): Kept {
  return {
    ...kept,
    importance: Math.max(kept.importance, gone.importance),
    confidence: Math.max(kept.confidence, gone.confidence),
    pinned: kept.pinned || gone.pinned,
    tags: [...new Set([...kept.tags, ...gone.tags])].slice(0, maxTags),
    metadata: boundedMetadata({ ...gone.metadata, ...kept.metadata }, kept.metadata),
    expiresAt: laterOf(kept.expiresAt, gone.expiresAt),
    seenCount: kept.seenCount + gone.seenCount,
  };
}

/** Null: never. */
function laterOf(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return null;
  return one > other ? one : other;
}
