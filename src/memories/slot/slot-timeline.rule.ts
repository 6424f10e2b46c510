import { isoTimeMs } from "../../clock.js";
import { normalValue } from "../../text/normal-value.js";
import { type SlotClaim, takesSlot } from "./slot-conflict.rule.js";

/** A time in which a slot had a value, in ISO 8601; `to` null while it does. */
export interface HeldInterval {
  readonly from: string;
  readonly to: string | null;
}

/** When a value that takes its slot begins: at `from`, or at the end of the last of `others`, which all have ended. */
export function freeSince(from: string, others: readonly HeldInterval[]): string {
  return freeStretches({ from, to: null }, others).at(-1)?.from ?? from;
}

function freeStretches(interval: HeldInterval, others: readonly HeldInterval[]): HeldInterval[] {
  return others
    .filter(holdsAnything)
    .reduce((left, other) => left.flatMap((stretch) => without(stretch, other)), [interval])
    .filter(holdsAnything);
}

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

/** The digits of the second's fraction that `isoTimeMs` leaves out, as many as PostgreSQL has. */
function micros(time: string): string {
  return (/\.(\d{1,6})/.exec(time)?.[1] ?? "").padEnd(6, "0");
}

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

/** Values around the time of a new value, without those that held for no time. */
export interface SlotHistory {
  readonly current: SlotValue | undefined;
  /** The latest closed value that began at or before it. */
  readonly before: SlotValue | undefined;
  /** The earliest closed value that began after it. */
  readonly after: SlotValue | undefined;
}

export interface ToldValue extends SlotClaim {
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
  /** Its end; the new value follows it. */
  readonly validTo?: Date;
}

/** A value said before and after the new one: its first part becomes a row of its own, ending at `until`. */
export interface IntervalSplit {
  readonly id: string;
  readonly until: Date;
  /** Its next sighting: from then on the row itself holds. */
  readonly from: Date;
}

export type SlotDecision =
  | { readonly action: "create"; readonly moves?: readonly IntervalMove[] }
  /** It is the value of `id`; `moves` where it is said to hold for longer. */
  | { readonly action: "same"; readonly id: string; readonly moves?: readonly IntervalMove[] }
  | { readonly action: "replace"; readonly id: string }
  /** `id` is believed more. */
  | { readonly action: "keep"; readonly id: string }
  /** It is past: it held until `id` did. */
  | {
      readonly action: "insert_closed";
      readonly id: string;
      readonly until: Date;
      readonly moves?: readonly IntervalMove[];
      readonly split?: IntervalSplit;
    };

/** A value without a time holds from now, and not before what holds now. */
export function heldSince(
  told: Pick<ToldValue, "validFrom" | "now">,
  current: Pick<SlotValue, "validFrom" | "assertedAt"> | undefined,
): Date {
  if (told.validFrom) return told.validFrom;
  return current ? latest(told.now, current.validFrom, current.assertedAt) : told.now;
}

/**
 * The place of `told` in the history of its slot, in whatever order values come: each holds from its own time until the
 * next one's. Only a value of the same time as another, or later than the current one, is compared with it (see
 * `takesSlot`). A value that was said again later than `told` holds again then.
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

/** `holder` holds at that time; `next` after it, null where it still does. */
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

/** The end of a closed value; one without an end ends where the next begins. */
function endOf({ validTo }: SlotValue, next: SlotValue | undefined): Date {
  const last = next?.validFrom ?? new Date(8.64e15);
  return validTo && validTo < last ? validTo : last;
}

function earlier(one: SlotValue | undefined, other: SlotValue | undefined): SlotValue | undefined {
  return one && other && other.validFrom < one.validFrom ? other : (one ?? other);
}

function isSameValue(told: Pick<ToldValue, "value" | "text">, other: Pick<ToldValue, "value" | "text">): boolean {
  return normalValue(told.value ?? told.text) === normalValue(other.value ?? other.text);
}

function latest(...dates: readonly Date[]): Date {
  return new Date(Math.max(...dates.map((date) => date.getTime())));
}
