import { dayMs } from "../../clock.js";
import type { Scope } from "../../scope/scope.js";
import { tenantHash, tenantHashes } from "../../scope/tenant-hash.rule.js";

/** Keeps a large tenant from blocking the next ones. */
const betweenOwnersMs = 1_000;

export interface DailyOwner {
  readonly scope: Scope;
  /** Epoch ms; null: never. */
  readonly doneAtMs: number | null;
}

/**
 * When each owner's daily work is due, in epoch ms: at the tenant's time of day, a hash that
 * spreads the load, with a second between owners. After finished work, the next time is `everyMs`
 * later, or up to half a day earlier. An `everyMs` below a day replaces the day.
 */
export function dailyTimes(
  owners: readonly DailyOwner[],
  everyMs: number,
  nowMs: number,
): number[] {
  const periodMs = Math.min(everyMs, dayMs);
  const ownersOfTenant = new Map<number, number>();
  return owners.map(({ scope, doneAtMs }) => {
    const hash = tenantHash(scope) ?? 0;
    const place = ownersOfTenant.get(hash) ?? 0;
    ownersOfTenant.set(hash, place + 1);
    const phaseMs = Math.floor((hash / tenantHashes) * periodMs);
    const nextAfter = (ms: number) =>
      (Math.floor((ms - phaseMs) / periodMs) + 1) * periodMs + phaseMs;
    const earliestMs = doneAtMs === null ? nowMs : doneAtMs + everyMs - periodMs;
    // Late or manual work is not repeated at the tenant's next time.
    const minMs = doneAtMs === null ? 0 : earliestMs + periodMs / 2;
    return Math.max(nextAfter(earliestMs), minMs) + place * betweenOwnersMs;
  });
}
