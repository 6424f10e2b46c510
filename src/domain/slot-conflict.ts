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
