import { differsInDetail, type MergeThresholds, mergeBand } from "./merge-band.js";
import { normalValue } from "./normal-value.js";
import type { SameFact } from "./same-fact.js";
import { resolveSlot } from "./slot-conflict.js";

/** An active memory that bears on a new one. */
export interface Rival {
  readonly relation: "slot" | "same" | "near";
  readonly id: string;
  readonly kind: string;
  readonly keyed: boolean;
  readonly text: string;
  readonly value: string | null;
  readonly confidence: number;
  readonly turn: number;
  readonly validFrom: Date;
  readonly similarity: number;
}

/** A new memory, as the decision needs it. */
export interface Proposal {
  readonly kind: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly confidence: number;
  readonly turn: number;
  /** Null: from now on. */
  readonly validFrom: Date | null;
  readonly correction: boolean;
}

/** What a new memory does to what is stored. */
export type WriteDecision =
  | { readonly action: "create" }
  /** It is known: count it as seen again. */
  | { readonly action: "touch"; readonly id: string; readonly similarity: number }
  /** It is known, but said better now: the stored text gives way to the new one. */
  | { readonly action: "update"; readonly id: string; readonly similarity: number }
  /** It takes the slot of another, which is closed. */
  | { readonly action: "replace"; readonly id: string }
  /** What holds the slot is believed more: nothing is stored. */
  | { readonly action: "keep"; readonly id: string }
  /** It tells of an earlier time: stored already closed. */
  | { readonly action: "insert_closed"; readonly id: string; readonly until: Date }
  /** A model should say whether it is the same as another. See `settleAsk`. */
  | { readonly action: "ask"; readonly id: string; readonly similarity: number };

/**
 * What `proposal` does, given the active memories that bear on it.
 *
 * An identical statement that fills another slot, or that is as free, is known. Then its slot decides (only the same
 * slot is ever replaced), then, for free statements, the most similar one of its kind. A free statement that a slot
 * says word for word is absorbed by it: see `absorbed`.
 */
export function decideWrite(
  proposal: Proposal,
  rivals: readonly Rival[],
  thresholds: MergeThresholds,
): WriteDecision {
  const slot = rivals.find((rival) => rival.relation === "slot");
  const same = rivals.find((rival) => rival.relation === "same" && rival.id !== slot?.id);
  // There is one of each statement: what fills another slot stays there, and a free one gives way to a slot.
  if (same && (same.keyed || proposal.key === null)) return { action: "touch", id: same.id, similarity: 1 };
  if (slot) return decideSlot(proposal, slot);
  if (proposal.key !== null || (proposal.kind !== "fact" && proposal.kind !== "insight"))
    return { action: "create" };

  const nearest = rivals.find(
    (rival) => rival.relation === "near" && rival.kind === proposal.kind && !rival.keyed,
  );
  if (!nearest) return { action: "create" };
  const { id, similarity } = nearest;
  const band = mergeBand(similarity, !differsInDetail(proposal.text, nearest.text), thresholds);
  if (band === "merge") return { action: "touch", id, similarity };
  return band === "ask" ? { action: "ask", id, similarity } : { action: "create" };
}

/** The free statement that a memory of these words takes the place of when it is created; undefined for most. */
export function absorbed<Known extends Rival>(rivals: readonly Known[]): Known | undefined {
  return rivals.find(({ relation, keyed }) => relation === "same" && !keyed);
}

/** `decision`, with the answer to its question where it has one. Statements that nobody compared stay two. */
export function settleAsk(
  decision: WriteDecision,
  verdict: (id: string) => SameFact,
): Exclude<WriteDecision, { action: "ask" }> {
  if (decision.action !== "ask") return decision;
  const answer = verdict(decision.id);
  if (answer === "different") return { action: "create" };
  return { ...decision, action: answer === "says_more" ? "update" : "touch" };
}

function decideSlot(proposal: Proposal, slot: Rival): WriteDecision {
  const known = slot.value ?? slot.text;
  const said = proposal.value ?? proposal.text;
  if (normalValue(known) === normalValue(said)) return { action: "touch", id: slot.id, similarity: 1 };
  const decision = resolveSlot(slot, proposal);
  if (decision === "insert_closed") return { action: decision, id: slot.id, until: slot.validFrom };
  return { action: decision, id: slot.id };
}
