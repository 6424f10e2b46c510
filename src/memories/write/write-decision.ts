import { comparison, type MergeThresholds, type SameFact } from "../compare/merge-band.js";
import {
  type IntervalMove,
  placeInSlot,
  type SlotDecision,
  type SlotValue,
  type ToldValue,
} from "../slot/slot-timeline.js";

/** A stored memory that bears on a new one: active, but for those closed values of its slot around its time. */
export interface Rival extends SlotValue {
  readonly relation: "slot" | "before" | "after" | "same" | "near";
  readonly kind: string;
  readonly keyed: boolean;
  readonly similarity: number;
}

/** A new memory, as the decision needs it. */
export interface Proposal extends ToldValue {
  readonly kind: string;
  readonly key: string | null;
}

/** What a new memory does to what is stored. */
export type WriteDecision =
  | Exclude<SlotDecision, { action: "same" }>
  /**
   * It is known. "touch": count it as seen again. "update": it is said better now, or by whom it is about: the stored text
   * gives way to the new one.
   */
  | {
      readonly action: "touch" | "update";
      readonly id: string;
      readonly similarity: number;
      readonly moves?: readonly IntervalMove[];
    }
  /** A model should say whether it is the same as another. See `settleAsk`. */
  | { readonly action: "ask"; readonly id: string; readonly similarity: number };

/**
 * What `proposal` does, given the memories that bear on it.
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
  const by = (relation: Rival["relation"]) => rivals.find((rival) => rival.relation === relation);
  const slot = by("slot");
  const same = rivals.find((rival) => rival.relation === "same" && rival.id !== slot?.id);
  // There is one of each statement: what fills another slot stays there, and a free one gives way to a slot.
  if (same && (same.keyed || proposal.key === null)) return { action: "touch", id: same.id, similarity: 1 };
  if (proposal.key !== null) {
    const history = { current: slot, before: by("before"), after: by("after") };
    const decision = placeInSlot(proposal, history);
    return decision.action === "same" ? known(proposal, rivals, { ...decision, similarity: 1 }) : decision;
  }
  if (proposal.kind !== "fact" && proposal.kind !== "insight") return { action: "create" };
  return decideFree(proposal, rivals, thresholds);
}

function decideFree(
  proposal: Proposal,
  rivals: readonly Rival[],
  thresholds: MergeThresholds,
): WriteDecision {
  const nearest = rivals.find(
    (rival) => rival.relation === "near" && rival.kind === proposal.kind && !rival.keyed,
  );
  if (!nearest) return { action: "create" };
  const { id, similarity } = nearest;
  const band = comparison(similarity, [nearest.text, proposal.text], thresholds);
  if (band === "ask") return { action: "ask", id, similarity };
  return band === "merge" ? known(proposal, rivals, { id, similarity }) : { action: "create" };
}

/** The words of whoever is believed more stand; a memory keeps its words where those who say it are alike. */
function known(
  proposal: Proposal,
  rivals: readonly Rival[],
  { id, similarity, moves }: { id: string; similarity: number; moves?: readonly IntervalMove[] },
): WriteDecision {
  const rival = rivals.find((other) => other.id === id);
  const active = rival?.relation === "slot" || rival?.relation === "near";
  const better = active && proposal.rank > rival.rank && proposal.text !== rival.text;
  const action = better ? "update" : "touch";
  return { action, id, similarity, ...(moves && { moves }) };
}

/** The free statement that a memory of these words takes the place of when it is created; undefined for most. */
export function absorbed<Known extends Pick<Rival, "relation" | "keyed">>(
  rivals: readonly Known[],
): Known | undefined {
  return rivals.find(({ relation, keyed }) => relation === "same" && !keyed);
}

/**
 * `decision`, with the answer to its question where it has one. Statements that nobody compared stay two, and so do
 * those of which the later says more, but is less to be believed than the earlier.
 */
export function settleAsk(
  decision: WriteDecision,
  verdict: (id: string) => SameFact,
  believedMore: (id: string) => boolean = () => false,
): Exclude<WriteDecision, { action: "ask" }> {
  if (decision.action !== "ask") return decision;
  const answer = verdict(decision.id);
  if (answer === "different") return { action: "create" };
  if (answer !== "says_more") return { ...decision, action: "touch" };
  return believedMore(decision.id) ? { action: "create" } : { ...decision, action: "update" };
}
