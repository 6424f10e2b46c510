import {
  type IntervalMove,
  placeInSlot,
  type SlotDecision,
  takesSlot,
} from "../slot/slot-timeline.rule.js";
import type { ExistingMemory, FoundStatement } from "./find-existing.js";
import type { MemoryRelation } from "./write-types.js";

export type WriteDecision =
  | Exclude<SlotDecision, { action: "same" }>
  /** "touch": counts another sighting. "update": also takes the new text. */
  | {
      readonly action: "touch" | "update";
      readonly id: string;
      readonly moves?: readonly IntervalMove[];
    };

/**
 * The first matching row decides.
 *
 * | statement | existing | decision |
 * |---|---|---|
 * | any | the same text in another slot | touch |
 * | without a key | the same text without a key | touch |
 * | with a key | an empty slot | create |
 * | with a key | its slot has the same value | touch; update for another text of a higher rank, or a correction |
 * | with a key, not earlier | its slot has another value | replace, or keep a value that ranks higher |
 * | with a key, earlier | its slot has a value | its place in the history: see `placeInSlot` |
 * | without a key; a model says that it updates or ends a memory | that memory, if it may be closed | replace |
 * | without a key | any | create |
 */
export function decideWrite(
  found: FoundStatement,
  relation: MemoryRelation | null = null,
): WriteDecision {
  const { existing } = found;
  const by = (foundAs: ExistingMemory["foundAs"]) =>
    existing.find((each) => each.foundAs === foundAs);
  const slot = by("slot");
  const same = existing.find((each) => each.foundAs === "same" && each.id !== slot?.id);
  const isKeyed = found.key !== undefined;
  if (same && (same.keyed || !isKeyed)) return { action: "touch", id: same.id };
  const closed = closedBy(found, by("target"), relation);
  const replaced = closed && ({ action: "replace", id: closed.id } as const);
  if (!isKeyed) return replaced ?? { action: "create" };
  const decision = placeInSlot(found, { current: slot, before: by("before"), after: by("after") });
  if (decision.action === "same") return repeatValue(found, decision);
  return decision.action === "create" && !decision.moves?.length
    ? (replaced ?? decision)
    : decision;
}

/**
 * A model's relation closes no pinned or higher-ranking memory. It may end a slot's value, not
 * replace it.
 */
function closedBy(
  found: FoundStatement,
  target: ExistingMemory | undefined,
  relation: MemoryRelation | null,
): ExistingMemory | undefined {
  if (relation?.relation !== "updates" && relation?.relation !== "ends") return undefined;
  if (!target || target.pinned || target.rank > found.rank) return undefined;
  if (!target.keyed) return target;
  const isEnded =
    relation.relation === "ends" && found.key === undefined && takesSlot(target, found);
  return isEnded ? target : undefined;
}

function repeatValue(
  { rank, correction, text, existing }: FoundStatement,
  { id, moves }: Extract<SlotDecision, { action: "same" }>,
): WriteDecision {
  const same = existing.find((each) => each.id === id);
  const isActive = same?.foundAs === "slot" || same?.foundAs === "near";
  const isPreferred = isActive && (rank > same.rank || (rank === same.rank && correction));
  return {
    action: isPreferred && text !== same.text ? "update" : "touch",
    id,
    ...(moves && { moves }),
  };
}

/** The keyless memory with the same text, which a new memory replaces. */
export function absorbed(existing: readonly ExistingMemory[]): ExistingMemory | undefined {
  return existing.find(({ foundAs, keyed }) => foundAs === "same" && !keyed);
}
