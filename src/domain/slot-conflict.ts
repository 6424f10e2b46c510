/** Turns after which a confidence counts half: "Alex", said plainly at turn 5, outlasts a doubtful "Al" at 50 and yields to a sure "Alexander" at 80. */
const halfLifeTurns = 500;

/** What is known of one side of a conflict. */
export interface SlotClaim {
  readonly confidence: number;
  /** The owner's turn at which it was last said. */
  readonly turn: number;
}

/** How a conflict over a slot ends. */
export type SlotDecision =
  /** The new value takes the slot; the old one is closed and kept. */
  | "replace"
  /** The new value is not stored. */
  | "keep"
  /** The new value tells of an earlier time: it is stored, already closed. */
  | "insert_closed";

/** `claim`'s confidence at `turn`: halved every 500 turns of the owner since it was last said. */
export function effectiveConfidence(claim: SlotClaim, turn: number): number {
  return claim.confidence * 0.5 ** (Math.max(0, turn - claim.turn) / halfLifeTurns);
}

/**
 * Which of two values holds a slot.
 *
 * A value without a time was said now. A plain correction wins. A value about an earlier time goes into the past. Otherwise the new value wins when
 * its confidence reaches the old one's effective confidence.
 */
export function resolveSlot(
  current: SlotClaim & { validFrom: Date },
  proposed: SlotClaim & { validFrom: Date | null; correction: boolean },
): SlotDecision {
  if (proposed.correction) return "replace";
  if (proposed.validFrom !== null && proposed.validFrom < current.validFrom) return "insert_closed";
  return proposed.confidence >= effectiveConfidence(current, proposed.turn) ? "replace" : "keep";
}
