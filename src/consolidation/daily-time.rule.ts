import { dayMs } from "../clock.js";
import type { Scope } from "../scope/scope.js";
import { tenantHash, tenantHashes } from "../scope/tenant-hash.rule.js";

/** Keeps a large tenant from blocking those whose time comes soon after its own. */
const betweenOwnersMs = 1_000;

export interface DailyOwner {
  readonly scope: Scope;
  /** In ms since 1970; null where it never was. */
  readonly doneAtMs: number | null;
}

/**
 * When each owner's daily work is due, in ms since 1970. Each tenant has its own time of day, by a hash, which spreads
 * the load; its owners follow each other by a second, in order.
 *
 * Finished work is due again after `everyMs` at the latest and half a day less at the earliest, at the tenant's time in
 * between. The first time is the tenant's next one. An `everyMs` below a day replaces the day.
 */
export function dailyTimes(owners: readonly DailyOwner[], everyMs: number, nowMs: number): number[] {
  const before = new Map<number, number>();
  return owners.map(({ scope, doneAtMs }) => {
    const hash = tenantHash(scope) ?? 0;
    const turn = before.get(hash) ?? 0;
    before.set(hash, turn + 1);
    return dailyTime(hash, { doneAtMs, everyMs, nowMs }) + turn * betweenOwnersMs;
  });
}

function dailyTime(
  hash: number,
  { doneAtMs, everyMs, nowMs }: { doneAtMs: number | null; everyMs: number; nowMs: number },
): number {
  const periodMs = Math.min(everyMs, dayMs);
  const phaseMs = Math.floor((hash / tenantHashes) * periodMs);
  const nextAfter = (ms: number) => (Math.floor((ms - phaseMs) / periodMs) + 1) * periodMs + phaseMs;
  if (doneAtMs === null) return nextAfter(nowMs);
  const restedMs = doneAtMs + everyMs - periodMs;
  // Late or manual work is not repeated as soon as the tenant's time comes.
  return Math.max(nextAfter(restedMs), restedMs + periodMs / 2);
}
