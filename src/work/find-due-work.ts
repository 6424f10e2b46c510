import { maxTimerMs } from "../clock.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants, currentTenancy } from "../postgres/isolation.js";
import type { Work } from "./define-work.js";

/**
 * Why a runner looks: at its interval, because another process or a caller knows of new work, or
 * because `upkeep` asks for all work, including work that waits for more messages.
 */
export type LookReason = "interval" | "wake" | "upkeep";

/** Finds due work, if this process may see all tenants: at most `limit` threads or owners. */
export function createLook(db: Database, limit: number) {
  const lookedAt = new Map<object, number>();
  const isTime = (what: { readonly everyMs?: number | undefined }, always: boolean): boolean => {
    const now = performance.now();
    const at = lookedAt.get(what) ?? Number.NEGATIVE_INFINITY;
    if (!always && now - at < (what.everyMs ?? 0)) return false;
    lookedAt.set(what, now);
    return true;
  };
  return async (work: Work, reason: LookReason): Promise<number[]> => {
    if (!isTime(work, reason !== "interval")) return [];
    if (currentTenancy() === undefined && !(await db.mayCrossTenants())) return [];
    return acrossTenants(async () => {
      if (work.mark && isTime(work.mark, reason === "upkeep")) await work.mark.run();
      if (reason === "upkeep") await work.hasten?.();
      return work.due(limit);
    });
  };
}

/** Calls `sweep` at the start, every `everyMs`, and on demand, once per second at most. */
export function createSweeper(sweep: () => void, everyMs: number) {
  const timers = new Map<number, NodeJS.Timeout>();
  let interval: NodeJS.Timeout | undefined;
  let stopped = false;
  return {
    wakeIn(delayMs: number) {
      const at = Math.ceil((performance.now() + Math.min(delayMs, maxTimerMs - 1_000)) / 1_000);
      if (stopped || timers.has(at)) return;
      const wake = () => {
        timers.delete(at);
        sweep();
      };
      timers.set(at, setTimeout(wake, at * 1_000 - performance.now()).unref());
    },
    start() {
      if (interval || stopped) return;
      interval = setInterval(sweep, Math.min(everyMs, maxTimerMs)).unref();
      sweep();
    },
    stop() {
      stopped = true;
      clearInterval(interval);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
