import type { EnergyOptions } from "./energy-options.js";

/** How much energy a tenant has. */
export interface EnergyLevel {
  /** 0 to 100, in percent of the capacity; 100 without a budget. */
  readonly level: number;
  /** What is left; below zero where more was spent than there was. Null without a budget. */
  readonly units: number | null;
  /** Units when full; null without a budget. */
  readonly capacity: number | null;
  /** Whether work that can wait does so now: notes, compaction, insights, consolidation. */
  readonly low: boolean;
}

/** What was left of a tenant's energy at some time, and how long ago that was. */
export interface LeftUnits {
  readonly units: number;
  readonly elapsedMs: number;
}

/** Share of the capacity that comes back in an hour: an empty tenant is above the low mark after 24 minutes. */
export const refillShare = 0.5;

const hourMs = 3_600_000;

/** The energy of a tenant of which `left` is known; null where it was never charged. A clock that went back refills nothing. */
export function energyLevel(
  left: LeftUnits | null,
  { capacityUnits: capacity, lowBelow }: EnergyOptions,
): EnergyLevel {
  if (capacity === null) return { level: 100, units: null, capacity, low: false };
  const refilled = left && left.units + (Math.max(0, left.elapsedMs) / hourMs) * refillShare * capacity;
  const units = Math.min(capacity, refilled ?? capacity);
  const level = Math.min(100, Math.max(0, (units / capacity) * 100));
  return { level, units, capacity, low: units < lowBelow * capacity };
}

/** Bounds of a pause: no busy waiting, and settings or a clock that change are noticed within the hour. */
const shortestPauseMs = 1_000;
const longestPauseMs = hourMs;

/** How long work that can wait does so, in milliseconds; null where it need not. */
export function pauseMs({ units, capacity, low }: EnergyLevel, { lowBelow }: EnergyOptions): number | null {
  if (!low || units === null || capacity === null) return null;
  const waitMs = Math.ceil(((lowBelow * capacity - units) / (refillShare * capacity)) * hourMs);
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, waitMs));
}
