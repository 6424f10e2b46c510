import type { MemoryKind } from "./memory.js";
import type { MemoryOrigin, MemoryTrust } from "./trust.js";

/** Whose word a memory is, as a conflict needs it. */
export interface WordOf {
  readonly kind: MemoryKind;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
}

/** What code and tools give is looked up or measured; the rest of what nobody vouches for is inferred. */
const given: ReadonlySet<MemoryOrigin> = new Set(["unknown", "tool", "document"]);

/**
 * Whose word counts more where two memories contradict each other: 3 for the user's, 2 for what code, a tool or a
 * document gave, 1 for what was inferred (by an assistant, by background work, as an insight) and for what was imported
 * without trust.
 *
 * What an operator vouches for ranks as the user's word and not above it: what a user says next of themselves must still
 * count. So does what the user agreed to, whoever proposed it.
 */
export function sourceRank({ kind, origin, trust }: WordOf): 1 | 2 | 3 {
  if (trust === "operator" || trust === "user") return 3;
  return trust === "untrusted" && given.has(origin) && kind !== "insight" ? 2 : 1;
}

const confidenceByOrigin: Readonly<Record<MemoryOrigin, number>> = {
  operator: 1,
  user: 0.9,
  unknown: 0.8,
  tool: 0.8,
  document: 0.7,
  assistant: 0.6,
  worker: 0.6,
  import: 0.5,
};

/**
 * The confidence of a memory whose writer gave none: 1 for an operator's, 0.9 for a user's (said, but perhaps
 * misheard), 0.8 for what code or a tool gave, 0.7 for a document's, 0.6 for what was inferred, 0.5 for what was imported.
 */
export function defaultConfidence(origin: MemoryOrigin, kind: MemoryKind): number {
  const confidence = confidenceByOrigin[origin];
  return kind === "insight" ? Math.min(confidence, confidenceByOrigin.worker) : confidence;
}
