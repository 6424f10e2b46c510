import type { Clock } from "../clock.js";
import { isAway, longestDelayMs, retryAfterMs } from "./provider-error.js";

/** Exponential backoff: `firstDelayMs` after the first failed attempt, then doubled. */
export const retryDelayMs = (
  attempts: number,
  firstDelayMs: number,
  mostMs = longestDelayMs,
): number => Math.min(mostMs, firstDelayMs * 2 ** Math.min(22, Math.max(0, attempts - 1)));

/** One failed call may be the fault of its own input. */
const failuresOfOutage = 2;

/**
 * When a provider is not called: as long as it asks for, or after failures in a row, from
 * `firstDelayMs` up to `mostMs`. All calls of a model share it.
 */
export interface ProviderPause {
  /** Null if it may be called. */
  until(): Date | null;
  /** Whether the provider itself named the time. */
  isLimited(): boolean;
  answered(): void;
  /** Ignores errors that do not come from an outage or a limit. */
  failed(error: unknown): void;
}

export function createProviderPause(
  clock: Clock,
  { firstDelayMs, mostMs = longestDelayMs }: { firstDelayMs: number; mostMs?: number },
): ProviderPause {
  let [failures, limitedMs, awayMs] = [0, 0, 0];
  const nowMs = () => clock().getTime();
  return {
    until() {
      const untilMs = Math.max(limitedMs, awayMs);
      return untilMs > nowMs() ? new Date(untilMs) : null;
    },
    isLimited: () => limitedMs > nowMs(),
    answered() {
      failures = 0;
      awayMs = 0;
    },
    failed(error) {
      const delayMs = isAway(error) ? retryAfterMs(error) : null;
      if (delayMs !== null) limitedMs = Math.max(limitedMs, nowMs() + delayMs);
      // Calls that began before the pause say nothing new.
      if (!isAway(error) || this.until()) return;
      failures++;
      if (failures >= failuresOfOutage)
        awayMs = nowMs() + retryDelayMs(failures - 1, firstDelayMs, mostMs);
    },
  };
}
