import type { DayStats, StatsByDay } from "../events/stats-by-day.js";
import type { DatabaseStatus } from "../postgres/circuit-breaker.js";
import type { EnergyConsumed, EnergyField } from "../usage/energy-api.js";
import type { EnergyToday } from "../usage/energy-statements.js";
import { joinBy, sums } from "./join-counts.rule.js";

/** What calls took in several cells, by the same fields: in the order of time where an hour or a day is one, else most units first. */
export function joinConsumed(
  parts: readonly (readonly EnergyConsumed[])[],
  by: EnergyField | readonly EnergyField[],
): EnergyConsumed[] {
  const fields = [by].flat() as EnergyField[];
  const [time] = fields.filter((field) => field === "hour" || field === "day");
  const keyOf = (row: EnergyConsumed) => JSON.stringify(fields.map((field) => row[field]));
  const joined = joinBy(parts.flat(), keyOf, (one, other) => ({
    ...one,
    calls: one.calls + other.calls,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    units: one.units + other.units,
  }));
  const timeOf = (row: EnergyConsumed) => (time && row[time]) ?? "";
  return joined.sort((a, b) => timeOf(a).localeCompare(timeOf(b)) || b.units - a.units);
}

/** The energy of several cells: the lowest level, and what all used. */
export function joinEnergy(parts: readonly EnergyToday[]): EnergyToday {
  return {
    level: Math.min(...parts.map(({ level }) => level)),
    unitsToday: parts.reduce((sum, part) => sum + part.unitsToday, 0),
    callsToday: parts.reduce((sum, part) => sum + part.callsToday, 0),
  };
}

/** What memory did by day in several cells. How long recalls took is told of the slowest cell: percentiles cannot be added. */
export function joinDays(parts: readonly StatsByDay[]): StatsByDay {
  const days = joinBy(
    parts.flatMap((part) => part.days),
    ({ day }) => day,
    (one, other): DayStats => ({
      day: one.day,
      memoriesByKind: sums([one.memoriesByKind, other.memoriesByKind]),
      writesByOutcome: sums([one.writesByOutcome, other.writesByOutcome]),
      recalls: one.recalls + other.recalls,
      recallsWithMemory: one.recallsWithMemory + other.recallsWithMemory,
      recallLatencyMs: slower(one.recallLatencyMs, other.recallLatencyMs),
      tokens: sums([one.tokens, other.tokens]),
      energyUnits: one.energyUnits + other.energyUnits,
    }),
  );
  const tables = joinBy(
    parts.flatMap((part) => part.tables),
    ({ table }) => table,
    (one, other) => ({
      table: one.table,
      rows: one.rows === null && other.rows === null ? null : (one.rows ?? 0) + (other.rows ?? 0),
      bytes: one.bytes + other.bytes,
    }),
  );
  return {
    days: days.sort((a, b) => a.day.localeCompare(b.day)),
    tables: tables.sort((a, b) => b.bytes - a.bytes),
  };
}

function slower(
  one: DayStats["recallLatencyMs"],
  other: DayStats["recallLatencyMs"],
): DayStats["recallLatencyMs"] {
  if (one === null || other === null) return one ?? other;
  return { p50: Math.max(one.p50, other.p50), p95: Math.max(one.p95, other.p95) };
}

/** The worst of several databases. */
export function joinStatus(parts: readonly DatabaseStatus[]): DatabaseStatus {
  return parts.reduce((worst, part) => {
    if (part.state !== worst.state) return part.state === "paused" ? part : worst;
    if (part.state === "paused") return (part.retryInMs ?? 0) > (worst.retryInMs ?? 0) ? part : worst;
    return part.failures > worst.failures ? part : worst;
  });
}
