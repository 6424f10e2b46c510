import { type ConsentPolicy, consentRule } from "../../memories/consent/consent-policy.rule.js";
import type { CategoryPolicy } from "../../memories/item/category.rule.js";
import { type IntervalSplit, placeInSlot } from "../../memories/slot/slot-timeline.rule.js";
import { mayBeOne, mayMerge, type StoredMemory, type StoredPair } from "./choose-pairs.rule.js";
import type { PairVote } from "./pair-votes.rule.js";

/** With what the votes of a model come to. */
export interface AgreedPair extends StoredPair {
  readonly vote: PairVote;
}

export interface JudgedPair extends AgreedPair {
  readonly linked: boolean;
  /** Whether one of the two has changed since the model was asked. */
  readonly changed: boolean;
}

/**
 * Why a verdict is not applied. "details": code finds a difference. "believed": the memory to
 * remove is trusted more. "slot": only one has a slot. "settled": another pair removed one.
 * "changed": one changed during the run.
 */
type PairRefusal = "details" | "believed" | "pinned" | "consent" | "slot" | "settled" | "changed";

type Removal = { readonly kept: StoredMemory; readonly gone: StoredMemory };

export type PairEffect =
  | (Removal & { readonly action: "merge" })
  | (Removal & {
      readonly action: "close";
      readonly validTo: Date;
      readonly split: IntervalSplit | null;
    })
  | { readonly action: "link" }
  | { readonly action: "none"; readonly why: PairRefusal | null };

export interface SettledPair extends JudgedPair {
  readonly effect: PairEffect;
}

interface SettleRules {
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
  readonly turns: number;
  readonly now: Date;
}

/**
 * The effect of each verdict, in order. Merges precede, most similar first; a removed memory gets
 * no other effect.
 */
export function settlePairs(judged: readonly JudgedPair[], rules: SettleRules): PairEffect[] {
  const effects = judged.map((): PairEffect => ({ action: "none", why: null }));
  const gone = new Set<string>();
  const inTurn = [...judged.entries()].toSorted(
    ([, one], [, other]) => order(one) - order(other) || other.similarity - one.similarity,
  );
  for (const [index, pair] of inTurn) {
    const effect = effectOf(pair, gone, rules);
    if (effect.action === "merge" || effect.action === "close") gone.add(effect.gone.id);
    effects[index] = effect;
  }
  return effects;
}

function order({ vote: { verdict } }: JudgedPair): number {
  return verdict === "same" ? 0 : verdict === "related" || verdict === "unrelated" ? 2 : 1;
}

function effectOf(pair: JudgedPair, gone: ReadonlySet<string>, rules: SettleRules): PairEffect {
  const { first, second, vote } = pair;
  if (pair.changed) return noEffect("changed");
  if (vote.verdict === "unrelated") return noEffect(null);
  if (gone.has(first.id) || gone.has(second.id)) return noEffect("settled");
  if (vote.verdict === "related") return pair.linked ? noEffect(null) : { action: "link" };
  if (!mayBeOne(first, second, rules.policy)) return noEffect("details");
  if (vote.verdict !== "same") return closingOfEarlier(pair, rules);
  return mayMerge(first, second) ? merging(pair) : noEffect("details");
}

function noEffect(why: PairRefusal | null): PairEffect {
  return { action: "none", why };
}

/**
 * Keeps the more trusted one; then the pinned, the one with a slot, the longer, the more frequent,
 * the older.
 */
function merging({ first, second }: StoredPair): PairEffect {
  const [kept, gone] = comparePreference(first, second) > 0 ? [first, second] : [second, first];
  if (gone.key !== null && kept.key === null) return noEffect("slot");
  return { action: "merge", kept, gone };
}

function comparePreference(one: StoredMemory, other: StoredMemory): number {
  return (
    one.rank - other.rank ||
    Number(one.pinned) - Number(other.pinned) ||
    Number(one.key !== null) - Number(other.key !== null) ||
    one.text.length - other.text.length ||
    one.seenCount - other.seenCount ||
    other.ref - one.ref
  );
}

/**
 * The later of two contradicting memories closes the earlier, like values of one slot: by date,
 * then source, then confidence. Never closes a memory that is pinned, trusted more, or sensitive.
 */
function closingOfEarlier({ first, second }: StoredPair, rules: SettleRules): PairEffect {
  if ((first.key === null) !== (second.key === null)) return noEffect("slot");
  const isInOrder =
    (first.validFrom.getTime() - second.validFrom.getTime() || first.ref - second.ref) <= 0;
  const [earlier, later] = isInOrder ? [first, second] : [second, first];
  const repeated = { ...later, turn: rules.turns, correction: false, now: rules.now };
  const decision = placeInSlot(repeated, { current: earlier, before: undefined, after: undefined });
  switch (decision.action) {
    case "replace":
      return closedPair(
        { kept: later, gone: earlier, validTo: later.validFrom, split: null },
        rules,
      );
    case "keep":
      return closedPair({ kept: earlier, gone: later, validTo: rules.now, split: null }, rules);
    case "insert_closed": {
      const { until, split = null } = decision;
      return closedPair({ kept: earlier, gone: later, validTo: until, split }, rules);
    }
    default:
      return noEffect(null);
  }
}

function closedPair(
  closing: Omit<PairEffect & { action: "close" }, "action">,
  { consent }: SettleRules,
): PairEffect {
  const { kept, gone } = closing;
  if (gone.rank > kept.rank) return noEffect("believed");
  if (gone.pinned) return noEffect("pinned");
  if (consentRule(consent, gone) === "consent" || consentRule(consent, kept) === "consent")
    return noEffect("consent");
  return { action: "close", ...closing };
}
