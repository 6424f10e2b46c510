import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../errors.js";
import { errorCodeOf, isConnectionError, isTimeout } from "./database-error.js";

/** Returned by `work` for a conflict without a database error. */
export const collided = Symbol("collided");

interface Collisions {
  readonly most: number;
  /** Random waits grow by this with each attempt. @default 0 */
  readonly stepMs?: number;
  readonly busy: string;
}

/**
 * Repeats `work` while it returns `collided` or fails with one of `codes`.
 * @throws MemoryError `BUSY`
 */
export async function retryOn<Result>(
  codes: readonly string[],
  work: () => Promise<Result | typeof collided>,
  { most, stepMs = 0, busy }: Collisions,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    let cause: unknown;
    try {
      const result = await work();
      if (result !== collided) return result;
    } catch (error) {
      // The driver's error, or a `MemoryError` with it as its cause.
      const found = [errorCodeOf(error), errorCodeOf((error as Error).cause)];
      if (!found.some((code) => codes.includes(code))) throw error;
      cause = error;
    }
    if (failures >= most) throw new MemoryError("BUSY", busy, cause === undefined ? {} : { cause });
    if (stepMs > 0) await sleep(Math.random() * stepMs * failures);
  }
}

interface Retries {
  readonly most: number;
  readonly waitMs: (failures: number) => number;
  readonly when: (error: unknown) => boolean;
}

// Tries at 0 to 3.1 s, the time of a fast restart. Only for idempotent or guarded work.
export const reconnect: Retries = {
  most: 6,
  waitMs: (failures) => 100 * 2 ** (failures - 1),
  when: (error) => !MemoryError.is(error) && isConnectionError(error) && !isTimeout(error),
};

export async function retrying<Result>(
  work: () => Promise<Result>,
  { most, waitMs, when }: Retries,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (failures >= most || !when(error)) throw error;
    }
    const ms = waitMs(failures);
    if (ms > 0) await sleep(ms);
  }
}
