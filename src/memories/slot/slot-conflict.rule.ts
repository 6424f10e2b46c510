import { isApproved, type MemoryKind, type MemoryOrigin, type MemoryTrust } from "../item/memory.js";

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
 * What an operator wrote or approved ranks as the user's word and not above it: what a user says next of themselves must still
 * count. So does what the user agreed to, whoever proposed it.
 */
export function sourceRank({ kind, origin, trust }: WordOf): 1 | 2 | 3 {
  if (trust === "user" || isApproved({ origin, trust })) return 3;
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

/**
 * The confidence of a memory whose writer gave none: 1 for an operator's, 0.9 for a user's (said, but perhaps
 * misheard), 0.8 for what code or a tool gave, 0.7 for a document's, 0.6 for what was inferred, 0.5 for what was imported.
 */
export function defaultConfidence(origin: MemoryOrigin, kind: MemoryKind): number {
  const confidence = confidenceByOrigin[origin];
  return kind === "insight" ? Math.min(confidence, confidenceByOrigin.worker) : confidence;
}

/** Turns after which a confidence counts half: "Alex", said plainly at turn 5, outlasts a doubtful "Al" at 50 and yields to a sure "Alexander" at 80. */
const halfLifeTurns = 500;

/** What is known of one side of a conflict. */
export interface SlotClaim {
  /** Whose word it is: see `sourceRank`. */
  readonly rank: number;
  readonly confidence: number;
  /** The owner's turn at which it was last said. */
  readonly turn: number;
}

/** What decides between two values of a slot: whose word they are, a plain correction, or how sure they are. */
export type ConflictReason = "source" | "correction" | "confidence";

/** `claim`'s confidence at `turn`: halved every 500 turns of the owner since it was last said. */
export function effectiveConfidence(claim: Pick<SlotClaim, "confidence" | "turn">, turn: number): number {
  return claim.confidence * 0.5 ** (Math.max(0, turn - claim.turn) / halfLifeTurns);
}

/** What decides between a value that holds a slot and one that is said of the same time or a later one. */
export function conflictReason(
  current: SlotClaim,
  proposed: SlotClaim & { readonly correction: boolean },
): ConflictReason {
  if (proposed.rank !== current.rank) return "source";
  return proposed.correction ? "correction" : "confidence";
}

/**
 * Whether a value that is said of the same time as the one that holds a slot, or of a later one, takes its place.
 *
 * Whose word it is comes first: what was inferred never takes the place of the user's own word, whatever the numbers
 * and whatever it calls itself. Between equals a plain correction wins, then a confidence that reaches the other's
 * effective one; so of two that are believed alike the later one.
 */
export function takesSlot(
  current: SlotClaim,
  proposed: SlotClaim & { readonly correction: boolean },
): boolean {
  switch (conflictReason(current, proposed)) {
    case "source":
      return proposed.rank > current.rank;
    case "correction":
      return true;
    case "confidence":
      return proposed.confidence >= effectiveConfidence(current, proposed.turn);
  }
}
