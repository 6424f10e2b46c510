import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { retryAfterMs, statusOf } from "./provider-error.js";

/** After an outage, work continues within the hour. */
const maxDelayMs = 3_600_000;

/** Exponential backoff: `firstDelayMs` after the first failed attempt, then doubled. */
export const retryDelayMs = (attempts: number, firstDelayMs: number): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(22, Math.max(0, attempts - 1)));

/** One failed call may be the fault of its own input. */
const failuresOfOutage = 2;

/** When the model of background work is not called: one for all of its work in a process. */
export type ModelPause = ReturnType<typeof createModelPause>;

/** Lasts as long as the provider asks for, or after failures in a row as `retryDelayMs`. */
export function createModelPause(clock: Clock, firstDelayMs: number) {
  let [failures, sinceMs, untilMs] = [0, 0, 0];
  const isOn = (nowMs: number) => sinceMs <= nowMs && nowMs < untilMs;
  return {
    /** Null if it may be called, also after the clock was set back. */
    until: () => (isOn(clock().getTime()) ? new Date(untilMs) : null),
    answered() {
      failures = 0;
    },
    failed(error: unknown) {
      const status = statusOf(error) ?? 500;
      if (!MemoryError.is(error, "MODEL_FAILED") || (status < 500 && status !== 429)) return;
      const nowMs = clock().getTime();
      // Calls that began before the pause tell nothing new.
      if (!isOn(nowMs)) failures++;
      const isOutage = failures >= failuresOfOutage;
      const backoffMs = isOutage ? retryDelayMs(failures - 1, firstDelayMs) : 0;
      const endsMs = nowMs + (retryAfterMs(error) ?? backoffMs);
      untilMs = isOn(nowMs) ? Math.max(untilMs, endsMs) : endsMs;
      sinceMs = nowMs;
    },
  };
}
