import { normalValue } from "../../text/normal-value.js";
import {
  isApproved,
  type MemoryItem,
  type MemoryKind,
  type MemoryOrigin,
  type Mergeable,
  mergeOf,
} from "../item/memory.js";

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

export interface SlotValue extends SlotClaim {
  readonly id: string;
  readonly text: string;
  readonly value: string | null;
  readonly validFrom: Date;
  /** Null: valid until the next value. */
  readonly validTo: Date | null;
  /** Time of the last sighting. */
  readonly assertedAt: Date;
}

type Repeat = Mergeable & Pick<SlotValue, "rank" | "confidence" | "turn" | "assertedAt">;

/** `kept` after `gone` said the same. A lower-ranking one raises neither confidence nor recency. */
export function mergeRepeat<Kept extends Repeat>(kept: Kept, gone: Repeat): Kept {
  if (gone.rank < kept.rank) return mergeOf(kept, { ...gone, confidence: 0 });
  const turn = Math.max(kept.turn, gone.turn);
  const assertedAt = new Date(Math.max(+kept.assertedAt, +gone.assertedAt));
  return { ...mergeOf(kept, gone), turn, assertedAt };
}

/** Values around the time of a new value. */
interface SlotHistory {
  readonly current: SlotValue | undefined;
  /** The latest closed value that starts at or before it. */
  readonly before: SlotValue | undefined;
  /** The earliest closed value that starts after it. */
  readonly after: SlotValue | undefined;
}

interface NewValue extends SlotClaim {
  readonly text: string;
  readonly value?: string | null | undefined;
  readonly correction: boolean;
  /** Unset: from now on. */
  readonly validFrom?: Date | null | undefined;
  readonly now: Date;
}

export interface IntervalMove {
  readonly id: string;
  readonly validFrom?: Date;
  /** The start of the new value. */
  readonly validTo?: Date;
}

/**
 * A value that was sighted before and after the new one: a copy ends at `until`, the row starts
 * `from` its next sighting.
 */
export interface IntervalSplit {
  readonly id: string;
  readonly until: Date;
  readonly from: Date;
}

export type SlotDecision =
  | { readonly action: "create"; readonly moves?: readonly IntervalMove[] }
  /** `id` has the same value; `moves` extend its validity. */
  | { readonly action: "same"; readonly id: string; readonly moves?: readonly IntervalMove[] }
  | { readonly action: "replace"; readonly id: string }
  /** `id` ranks higher. */
  | { readonly action: "keep"; readonly id: string }
  /** The new value is past: `id` follows it. */
  | {
      readonly action: "insert_closed";
      readonly id: string;
      readonly until: Date;
      readonly moves?: readonly IntervalMove[];
      readonly split?: IntervalSplit;
    };

/** The start of a value: without a time, now, but not before the current value. */
export function heldSince(
  { validFrom, now }: Pick<NewValue, "validFrom" | "now">,
  current: Pick<SlotValue, "validFrom" | "assertedAt"> | undefined,
): Date {
  return (
    validFrom ?? (current ? new Date(Math.max(+now, +current.validFrom, +current.assertedAt)) : now)
  );
}

/**
 * The start of a value that takes its slot at `at`: `holdsSince`, unless one of `others` is from
 * later.
 */
export function startOfTaken(
  at: Date,
  holdsSince: Date | undefined,
  others: readonly Pick<SlotValue, "validFrom" | "validTo">[],
): Date {
  if (holdsSince === undefined || holdsSince > at) return at;
  const isFree = others.every(({ validFrom, validTo }) => (validTo ?? validFrom) < holdsSince);
  return isFree ? holdsSince : at;
}

/**
 * The place of `value` in the history of its slot, whatever the order of arrival: each value is
 * valid until the next one starts. `takesSlot` decides only at equal times, or after the current
 * value. A later sighting of another value wins back the time from then on.
 */
export function placeInSlot(
  value: NewValue,
  { current, before, after }: SlotHistory,
): SlotDecision {
  const at = heldSince(value, current);
  if (current && at >= current.validFrom) return placeWithin(value, at, current, null);
  const next = earlier(after, current);
  const valid = before && endOfValue(before, next) > at ? before : undefined;
  if (!next) return { action: "create", ...(valid && { moves: [{ id: valid.id, validTo: at }] }) };
  if (valid) return placeWithin(value, at, valid, next);
  return isSameValue(value, next)
    ? { action: "same", id: next.id, moves: [{ id: next.id, validFrom: at }] }
    : { action: "insert_closed", id: next.id, until: next.validFrom };
}

/** For a `value` that starts while `valid` is valid; `next` follows that, or is null. */
function placeWithin(
  value: NewValue,
  at: Date,
  valid: SlotValue,
  next: SlotValue | null,
): SlotDecision {
  const { id, validFrom, assertedAt } = valid;
  if (isSameValue(value, valid)) return { action: "same", id };
  const isSameTime = at.getTime() === validFrom.getTime();
  if ((isSameTime || (next === null && at >= assertedAt)) && !takesSlot(valid, value))
    return { action: "keep", id };
  const until = next && endOfValue(valid, next);
  if (assertedAt > at && (until === null || assertedAt < until)) {
    return {
      action: "insert_closed",
      id,
      until: assertedAt,
      split: { id, until: at, from: assertedAt },
    };
  }
  if (next === null) return { action: "replace", id };
  const ended = { id, validTo: at };
  if (isSameValue(value, next) && endOfValue(valid, next) >= next.validFrom) {
    return { action: "same", id: next.id, moves: [ended, { id: next.id, validFrom: at }] };
  }
  return { action: "insert_closed", id: next.id, until: next.validFrom, moves: [ended] };
}

/** A closed value without an end ends when the next one starts. */
function endOfValue({ validTo }: SlotValue, next: SlotValue | undefined): Date {
  const last = next?.validFrom ?? new Date(8.64e15);
  return validTo && validTo < last ? validTo : last;
}

function earlier(one: SlotValue | undefined, other: SlotValue | undefined): SlotValue | undefined {
  return one && other && other.validFrom < one.validFrom ? other : (one ?? other);
}

function isSameValue(...values: readonly Pick<NewValue, "value" | "text">[]): boolean {
  return new Set(values.map(({ value, text }) => normalValue(value ?? text))).size === 1;
}
