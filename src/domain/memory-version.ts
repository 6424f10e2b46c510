import type { MemoryItem } from "./memory.js";

/** What a version of a memory is made of: what can be changed by hand, and brought back. */
export type MemoryVersion = Pick<
  MemoryItem,
  "text" | "category" | "value" | "importance" | "confidence" | "pinned" | "tags"
>;

/** `memory` as the audit trail keeps its versions. */
export function versionOf(memory: MemoryVersion): MemoryVersion {
  const { text, category, value, importance, confidence, pinned, tags } = memory;
  return { text, category, value, importance, confidence, pinned, tags };
}
