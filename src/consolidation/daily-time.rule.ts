import { dayMs } from "../clock.js";
import type { Scope } from "../scope/scope.js";
import { tenantHash, tenantHashes } from "../scope/tenant-hash.rule.js";

/** Between owners of one tenant, so that a large tenant does not hold up those whose time comes soon after its own. */
const betweenOwnersMs = 1_000;

/** An owner whose daily work is to be done. */
export interface DailyOwner {
  readonly scope: Scope;
  /** When it was last done, in ms since 1970; null where it never was. */
  readonly doneAtMs: number | null;
}

/**
 * When each owner's daily work is due, in ms since 1970. Each tenant has a time of day of its own, by a hash, so that
 * the work of many is spread over the day; its owners follow each other by a second, in the order given.
 *
 * Work that was done is due again `everyMs` later at the latest, and not before half a day less than that; at the tenant's
 * time in between. For the first time it is due at the tenant's next time. Where `everyMs` is less than a day, it stands
 * for the day.
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
  // Work that was late, or done by hand, is not done again as soon as the tenant's time comes.
  return Math.max(nextAfter(restedMs), restedMs + periodMs / 2);
}
