import { isoTimeMs } from "../../clock.js";
import { normalValue } from "../../text/normal-value.js";
import { isDeniedBy } from "../compare/detail-difference.js";
import { type SlotClaim, takesSlot } from "./slot-conflict.rule.js";

/** A stretch of time for which a slot had a value: ISO times, `to` null while it does. */
export interface HeldInterval {
  readonly from: string;
  readonly to: string | null;
}

/**
 * Since when a value holds that takes its slot (again): since `from`, or since the last of `others` ended that did so
 * later. `others` have ended, and so a slot never had two values at a time.
 */
export function freeSince(from: string, others: readonly HeldInterval[]): string {
  return freeStretches({ from, to: null }, others).at(-1)?.from ?? from;
}

/** What is left of `interval` without `others`, in order. */
function freeStretches(interval: HeldInterval, others: readonly HeldInterval[]): HeldInterval[] {
  return others
    .filter(holdsAnything)
    .reduce((left, other) => left.flatMap((stretch) => without(stretch, other)), [interval])
    .filter(holdsAnything);
}

/** What of `stretch` comes before `other`, and what comes after it. */
function without({ from, to }: HeldInterval, other: HeldInterval): HeldInterval[] {
  const before = { from, to: endsAfter(to, other.from) ? other.from : to };
  const after = other.to === null ? [] : [{ from: isBefore(from, other.to) ? other.to : from, to }];
  return [before, ...after].filter(holdsAnything);
}

function holdsAnything({ from, to }: HeldInterval): boolean {
  return endsAfter(to, from);
}

function endsAfter(to: string | null, time: string): boolean {
  return to === null || isBefore(time, to);
}

function isBefore(one: string, other: string): boolean {
  const [oneMs, otherMs] = [isoTimeMs(one) ?? 0, isoTimeMs(other) ?? 0];
  return oneMs === otherMs ? micros(one) < micros(other) : oneMs < otherMs;
}

/** What `isoTimeMs` leaves out: the digits of the second's fraction, as many as PostgreSQL has. */
function micros(time: string): string {
  return (/\.(\d{1,6})/.exec(time)?.[1] ?? "").padEnd(6, "0");
}

/** A value that a slot has or had. */
export interface SlotValue extends SlotClaim {
  readonly id: string;
  readonly text: string;
  readonly value: string | null;
  readonly validFrom: Date;
  /** Null: it holds still, or until the next one. */
  readonly validTo: Date | null;
  /** When it was last said to hold. */
  readonly assertedAt: Date;
}

/** The values of a slot around the time that a new value tells of. A value that was valid for no time is none of it. */
export interface SlotHistory {
  /** What holds it. */
  readonly current: SlotValue | undefined;
  /** The latest closed value that began by then. */
  readonly before: SlotValue | undefined;
  /** The earliest closed value that began after it. */
  readonly after: SlotValue | undefined;
}

/** A value that somebody tells. */
export interface ToldValue extends SlotClaim {
  readonly text: string;
  readonly value?: string | null | undefined;
  readonly correction: boolean;
  /** Since when it holds; unset: from now on. */
  readonly validFrom?: Date | null | undefined;
  readonly now: Date;
}

/** A stored value that begins or ends at another time than before. */
export interface IntervalMove {
  readonly id: string;
  readonly validFrom?: Date;
  /** Where it ends; the new value comes after it then. */
  readonly validTo?: Date;
}

/** A value said before and after the new one: what was before becomes a row of its own, ending at `until`. */
export interface IntervalSplit {
  readonly id: string;
  readonly until: Date;
  /** When it was said again: from then on the row itself holds. */
  readonly from: Date;
}

/** What a told value does to its slot. */
export type SlotDecision =
  | { readonly action: "create"; readonly moves?: readonly IntervalMove[] }
  /** It is what `id` says; `moves` where it is said to be valid for longer. */
  | { readonly action: "same"; readonly id: string; readonly moves?: readonly IntervalMove[] }
  /** It takes the slot of `id`. */
  | { readonly action: "replace"; readonly id: string }
  /** `id` is believed more. */
  | { readonly action: "keep"; readonly id: string }
  /** It is past already: it was valid until `id` was. */
  | {
      readonly action: "insert_closed";
      readonly id: string;
      readonly until: Date;
      readonly moves?: readonly IntervalMove[];
      readonly split?: IntervalSplit;
    };

/** Since when `told` holds: a value without a time is said of now, and of what holds now. */
export function heldSince(
  told: Pick<ToldValue, "validFrom" | "now">,
  current: Pick<SlotValue, "validFrom" | "assertedAt"> | undefined,
): Date {
  if (told.validFrom) return told.validFrom;
  return current ? latest(told.now, current.validFrom, current.assertedAt) : told.now;
}

/**
 * Where `told` belongs in the history of its slot, whatever the order in which values are told: each holds from its own
 * time until the next one's, and the latest holds the slot.
 *
 * Times come first: only what tells of the same time as another value, or of a later one than what holds the slot, is
 * compared with it (see `takesSlot`). What was said again later than `told` goes on holding then.
 */
export function placeInSlot(told: ToldValue, { current, before, after }: SlotHistory): SlotDecision {
  const at = heldSince(told, current);
  if (current && at >= current.validFrom) return meetHolder(told, at, current, null);
  const next = earlier(after, current);
  const holder = before && endOf(before, next) > at ? before : undefined;
  if (!next) {
    return { action: "create", ...(holder && { moves: [{ id: holder.id, validTo: at }] }) };
  }
  if (holder) return meetHolder(told, at, holder, next);
  return isSameValue(told, next)
    ? { action: "same", id: next.id, moves: [{ id: next.id, validFrom: at }] }
    : { action: "insert_closed", id: next.id, until: next.validFrom };
}

/** `holder` is what holds at the time told of; `next` what holds after it, null where that is still so. */
function meetHolder(told: ToldValue, at: Date, holder: SlotValue, next: SlotValue | null): SlotDecision {
  const { id, validFrom, assertedAt } = holder;
  if (isSameValue(told, holder)) return { action: "same", id };
  const atOnce = at.getTime() === validFrom.getTime();
  if ((atOnce || at >= assertedAt) && (next === null || atOnce) && !takesSlot(holder, told)) {
    return { action: "keep", id };
  }
  const until = next && endOf(holder, next);
  if (assertedAt > at && (until === null || assertedAt < until)) {
    return { action: "insert_closed", id, until: assertedAt, split: { id, until: at, from: assertedAt } };
  }
  if (next === null) return { action: "replace", id };
  if (isSameValue(told, next) && endOf(holder, next) >= next.validFrom) {
    return {
      action: "same",
      id: next.id,
      moves: [
        { id, validTo: at },
        { id: next.id, validFrom: at },
      ],
    };
  }
  return { action: "insert_closed", id: next.id, until: next.validFrom, moves: [{ id, validTo: at }] };
}

/** Where a closed value ends; one that nobody closed, where the next begins. */
function endOf({ validTo }: SlotValue, next: SlotValue | undefined): Date {
  const last = next?.validFrom ?? new Date(8.64e15);
  return validTo && validTo < last ? validTo : last;
}

function earlier(one: SlotValue | undefined, other: SlotValue | undefined): SlotValue | undefined {
  return one && other && other.validFrom < one.validFrom ? other : (one ?? other);
}

/** Whether two values of a slot are one, and neither is denied by what is said of the other. */
function isSameValue(
  told: Pick<ToldValue, "value" | "text">,
  other: Pick<ToldValue, "value" | "text">,
): boolean {
  return (
    normalValue(told.value ?? told.text) === normalValue(other.value ?? other.text) &&
    !isDeniedBy(told.text, other.text)
  );
}

function latest(...dates: readonly Date[]): Date {
  return new Date(Math.max(...dates.map((date) => date.getTime())));
}
