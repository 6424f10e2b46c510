import { isApproved, type MemoryItem, type MemoryKind, type MemoryOrigin } from "../item/memory.js";

/** Origins of facts that were looked up or measured, not inferred. */
const factualOrigins: ReadonlySet<MemoryOrigin> = new Set(["unknown", "tool", "document"]);

/**
 * The higher rank wins a conflict: 4 approved by an operator, 3 user, 2 code, tool or document, 1
 * inferred or imported.
 */
export function sourceRank(memory: Pick<MemoryItem, "kind" | "origin" | "trust">): 1 | 2 | 3 | 4 {
  const { kind, origin, trust } = memory;
  if (isApproved(memory)) return 4;
  if (trust === "user") return 3;
  return trust !== "agent" && factualOrigins.has(origin) && kind !== "insight" ? 2 : 1;
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

/** The confidence of a draft without one. */
export function defaultConfidence(origin: MemoryOrigin, kind: MemoryKind): number {
  const confidence = confidenceByOrigin[origin];
  return kind === "insight" ? Math.min(confidence, confidenceByOrigin.worker) : confidence;
}

/** "Alex", sure at turn 5, outlasts a doubtful "Al" at 50 and loses to a sure "Alexander" at 80. */
const halfLifeTurns = 500;

export interface SlotClaim {
  /** See `sourceRank`. */
  readonly rank: number;
  readonly confidence: number;
  /** The owner's turn of the last sighting. */
  readonly turn: number;
}

export type ConflictReason = "source" | "correction" | "confidence";

export function effectiveConfidence(
  claim: Pick<SlotClaim, "confidence" | "turn">,
  turn: number,
): number {
  return claim.confidence * 0.5 ** (Math.max(0, turn - claim.turn) / halfLifeTurns);
}

export function conflictReason(
  current: SlotClaim,
  proposed: SlotClaim & { correction: boolean },
): ConflictReason {
  if (proposed.rank !== current.rank) return "source";
  return proposed.correction ? "correction" : "confidence";
}

/**
 * Whether a value of the same or a later time takes the slot: by rank, then correction, then
 * effective confidence.
 */
export function takesSlot(
  current: SlotClaim,
  proposed: SlotClaim & { readonly correction: boolean },
): boolean {
  if (proposed.rank !== current.rank) return proposed.rank > current.rank;
  return proposed.correction || proposed.confidence >= effectiveConfidence(current, proposed.turn);
}
