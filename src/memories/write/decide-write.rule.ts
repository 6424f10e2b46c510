import { takesSlot } from "../slot/slot-conflict.rule.js";
import { type IntervalMove, placeInSlot, type SlotDecision } from "../slot/slot-timeline.rule.js";
import type { KnownMemory, ToldMemory } from "./statement.js";
import type { MemoryRelation } from "./write-runtime.js";

export type WriteDecision =
  | Exclude<SlotDecision, { action: "same" }>
  /** "touch": count it as seen again. "update": also take the new words, by a better source or wording. */
  | { readonly action: "touch" | "update"; readonly id: string; readonly moves?: readonly IntervalMove[] };

/**
 * The first row that fits decides.
 *
 * | told | known | decision |
 * |---|---|---|
 * | anything | the same words in another slot | touch |
 * | without a key | the same words without a key | touch |
 * | with a key | nothing in its slot | create |
 * | with a key | its slot holds the same value | touch, or update |
 * | with a key, of then or later | its slot holds another value | replace, or keep where that is believed more |
 * | with a key, of an earlier time | its slot holds a value | its place among the past ones: see `placeInSlot` |
 * | without a key, and a model says that it updates or ends a known memory | that one, where it may be closed | replace |
 * | without a key | anything | create |
 *
 * Update: `told` ranks above the known memory, or corrects its equal, and has other words. For a new memory see also `absorbed`.
 */
export function decideWrite(told: ToldMemory, known: readonly KnownMemory[], relation?: MemoryRelation): WriteDecision {
  const by = (relation: KnownMemory["relation"]) => known.find((memory) => memory.relation === relation);
  const slot = by("slot");
  const same = known.find((memory) => memory.relation === "same" && memory.id !== slot?.id);
  const free = told.key === undefined;
  if (same && (same.keyed || free)) return { action: "touch", id: same.id };
  const closed = closedBy(told, known, relation);
  if (!free) {
    const decision = placeInSlot(told, { current: slot, before: by("before"), after: by("after") });
    if (decision.action === "same") return saidAgain(told, known, decision);
    const isFirst = decision.action === "create" && !decision.moves?.length;
    return isFirst && closed ? { action: "replace", id: closed.id } : decision;
  }
  return closed ? { action: "replace", id: closed.id } : { action: "create" };
}

/** What `told` closes, as a model says: not pinned, nor of a higher rank. A slot's value is ended, never replaced. */
function closedBy(
  told: ToldMemory,
  known: readonly KnownMemory[],
  relation: MemoryRelation | undefined,
): KnownMemory | undefined {
  if (relation?.relation !== "updates" && relation?.relation !== "ends") return undefined;
  const target = known.find((memory) => memory.relation === "target");
  if (!target || target.pinned || target.rank > told.rank) return undefined;
  if (!target.keyed) return target;
  const isEnded = relation.relation === "ends" && told.key === undefined && takesSlot(target, told);
  return isEnded ? target : undefined;
}

/** The words of the higher rank win. Between equals a memory keeps its words, but for a correction. */
function saidAgain(
  told: ToldMemory,
  known: readonly KnownMemory[],
  { id, moves }: { id: string; moves?: readonly IntervalMove[] },
): WriteDecision {
  const memory = known.find((other) => other.id === id);
  const active = memory?.relation === "slot" || memory?.relation === "near";
  const believed = active && told.rank >= memory.rank && (told.correction || told.rank > memory.rank);
  const better = believed && told.text !== memory.text;
  return { action: better ? "update" : "touch", id, ...(moves && { moves }) };
}

/** The memory without a key whose words a new one repeats, and whose place it takes. */
export function absorbed<Known extends Pick<KnownMemory, "relation" | "keyed">>(
  known: readonly Known[],
): Known | undefined {
  return known.find(({ relation, keyed }) => relation === "same" && !keyed);
}
