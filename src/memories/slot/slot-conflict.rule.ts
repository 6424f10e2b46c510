import { isApproved, type MemoryItem, type MemoryKind, type MemoryOrigin } from "../item/memory.js";

/** What code and tools give is looked up or measured; other words that nobody vouches for are inferred. */
const given: ReadonlySet<MemoryOrigin> = new Set(["unknown", "tool", "document"]);

/**
 * Whose word wins a conflict: 4 for a person in charge, 3 for the user, 2 for code, tools and documents, 1 for what was
 * inferred, or imported without trust. What an operator vouches for, no user replaces; what code adds, they do.
 */
export function sourceRank(memory: Pick<MemoryItem, "kind" | "origin" | "trust">): 1 | 2 | 3 | 4 {
  const { kind, origin, trust } = memory;
  if (isApproved(memory)) return 4;
  if (trust === "user") return 3;
  return trust !== "agent" && given.has(origin) && kind !== "insight" ? 2 : 1;
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

/** The confidence of a draft that names none. A user's word may be misheard. */
export function defaultConfidence(origin: MemoryOrigin, kind: MemoryKind): number {
  const confidence = confidenceByOrigin[origin];
  return kind === "insight" ? Math.min(confidence, confidenceByOrigin.worker) : confidence;
}

/** "Alex", said plainly at turn 5, outlasts a doubtful "Al" at 50 and yields to a sure "Alexander" at 80. */
const halfLifeTurns = 500;

export interface SlotClaim {
  /** Whose word it is: see `sourceRank`. */
  readonly rank: number;
  readonly confidence: number;
  /** The owner's turn at which it was last said. */
  readonly turn: number;
}

export type ConflictReason = "source" | "correction" | "confidence";

export function effectiveConfidence(claim: Pick<SlotClaim, "confidence" | "turn">, turn: number): number {
  return claim.confidence * 0.5 ** (Math.max(0, turn - claim.turn) / halfLifeTurns);
}

export function conflictReason(
  current: SlotClaim,
  proposed: SlotClaim & { readonly correction: boolean },
): ConflictReason {
  if (proposed.rank !== current.rank) return "source";
  return proposed.correction ? "correction" : "confidence";
}

/** Whether a value of the same or a later time takes the slot: by rank, then correction, then effective confidence. */
export function takesSlot(current: SlotClaim, proposed: SlotClaim & { readonly correction: boolean }): boolean {
  switch (conflictReason(current, proposed)) {
    case "source":
      return proposed.rank > current.rank;
    case "correction":
      return true;
    case "confidence":
      return proposed.confidence >= effectiveConfidence(current, proposed.turn);
  }
}
