import { comparison, type MergeThresholds } from "../compare/merge-band.js";
import { consentRule } from "../guard/consent-policy.rule.js";
import { type IntervalMove, placeInSlot, type SlotDecision } from "../slot/slot-timeline.rule.js";
import type { KnownMemory, ToldMemory } from "./statement.js";
import type { WriteConfig } from "./write-runtime.js";

export type WriteDecision =
  | Exclude<SlotDecision, { action: "same" }>
  /** "touch": count it as seen again. "update": also take the new words, by a better source or wording. */
  | {
      readonly action: "touch" | "update";
      readonly id: string;
      readonly similarity: number;
      readonly moves?: readonly IntervalMove[];
    }
  /** A model should say whether the two are the same. */
  | { readonly action: "ask"; readonly id: string; readonly similarity: number };

export type SettledDecision = Exclude<WriteDecision, { action: "ask" }>;

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
 * | an episode, note or procedure | anything | create |
 * | a fact or insight | the nearest of its kind without a key that may be it is in band "merge" | touch, or update |
 * | a fact or insight | that one is in band "ask" | ask |
 * | a fact or insight | anything | create |
 *
 * Update: `told` ranks above the known memory, or corrects its equal, and has other words. For a new memory see also `absorbed`.
 */
export function decideWrite(
  told: ToldMemory,
  known: readonly KnownMemory[],
  thresholds: MergeThresholds,
): WriteDecision {
  const by = (relation: KnownMemory["relation"]) => known.find((memory) => memory.relation === relation);
  const slot = by("slot");
  const same = known.find((memory) => memory.relation === "same" && memory.id !== slot?.id);
  const free = told.key === undefined;
  if (same && (same.keyed || free)) return { action: "touch", id: same.id, similarity: 1 };
  if (!free) {
    const decision = placeInSlot(told, { current: slot, before: by("before"), after: by("after") });
    return decision.action === "same" ? saidAgain(told, known, { ...decision, similarity: 1 }) : decision;
  }
  if (told.kind !== "fact" && told.kind !== "insight") return { action: "create" };
  const nearest = known
    .filter(({ relation, kind, keyed }) => relation === "near" && kind === told.kind && !keyed)
    .map(({ id, similarity, text }) => {
      return { id, similarity, band: comparison(similarity, [text, told.text], thresholds) };
    })
    .find(({ band }) => band === "ask" || band === "merge");
  if (!nearest) return { action: "create" };
  const { band, ...found } = nearest;
  return band === "ask" ? { action: "ask", ...found } : saidAgain(told, known, found);
}

/** The words of the higher rank win. Between equals a memory keeps its words, but for a correction. */
function saidAgain(
  told: ToldMemory,
  known: readonly KnownMemory[],
  { id, similarity, moves }: { id: string; similarity: number; moves?: readonly IntervalMove[] },
): WriteDecision {
  const memory = known.find((other) => other.id === id);
  const active = memory?.relation === "slot" || memory?.relation === "near";
  const believed = active && told.rank >= memory.rank && (told.correction || told.rank > memory.rank);
  const better = believed && told.text !== memory.text;
  return { action: better ? "update" : "touch", id, similarity, ...(moves && { moves }) };
}

/** The memory without a key whose words a new one repeats, and whose place it takes. */
export function absorbed<Known extends Pick<KnownMemory, "relation" | "keyed">>(
  known: readonly Known[],
): Known | undefined {
  return known.find(({ relation, keyed }) => relation === "same" && !keyed);
}

/** Stricter for fields that a consent policy guards. */
export function mergeThresholds(
  memory: Parameters<typeof consentRule>[1],
  { consent, memories }: WriteConfig,
): MergeThresholds {
  if (consentRule(consent, memory) !== null) {
    return { ask: memories.contextAskSimilarity, review: memories.contextReviewSimilarity };
  }
  return { ask: memories.askSimilarity, review: memories.reviewSimilarity };
}
