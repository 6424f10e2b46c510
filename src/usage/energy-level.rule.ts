import type { EnergyOptions } from "./energy-options.js";

/** How much energy a tenant has. */
export interface EnergyLevel {
  /** 0 to 100, in percent of the capacity. */
  readonly level: number;
  /** What is left; below zero where more was spent than there was. */
  readonly units: number;
  /** Units when full. */
  readonly capacity: number;
  /** Whether work that can wait does so now: notes, compaction, insights, consolidation. */
  readonly low: boolean;
}

/** What was left of a tenant's energy at some time, and how long ago that was. */
export interface LeftUnits {
  readonly units: number;
  readonly elapsedMs: number;
}

type Budget = Pick<EnergyOptions, "capacityUnits" | "refillUnitsPerHour" | "lowBelow" | "enabled">;

const hourMs = 3_600_000;

/** The energy of a tenant of which `left` is known; null where it was never charged. A clock that went back refills nothing. */
export function energyLevel(left: LeftUnits | null, budget: Budget): EnergyLevel {
  const { capacityUnits: capacity, lowBelow, enabled } = budget;
  const units = left === null || !enabled ? capacity : refilled(left, budget);
  const level = Math.min(100, Math.max(0, (units / capacity) * 100));
  return { level, units, capacity, low: units < lowBelow * capacity };
}

function refilled({ units, elapsedMs }: LeftUnits, { capacityUnits, refillUnitsPerHour }: Budget): number {
  return Math.min(capacityUnits, units + (Math.max(0, elapsedMs) / hourMs) * refillUnitsPerHour);
}

/** Bounds of a pause: no busy waiting, and settings or a clock that change are noticed within the hour. */
const shortestPauseMs = 1_000;
const longestPauseMs = hourMs;

/** How long work that can wait does so, in milliseconds; null where it need not. */
export function pauseMs({ units, capacity, low }: EnergyLevel, budget: Budget): number | null {
  if (!low) return null;
  const missing = budget.lowBelow * capacity - units;
  const waitMs = Math.ceil((missing / budget.refillUnitsPerHour) * hourMs);
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, waitMs));
}
