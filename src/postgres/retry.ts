import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../errors.js";
import { errorCodeOf, isLostSession, isTimeout } from "./database-error.js";

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

/**
 * Repeats a statement or transaction that a deadlock undid. Forgetting locks a thread before its
 * owner, and writers of memories the owner first: any of them may be the one that is stopped. Where
 * sessions are "repeatable read" or "serializable", it also repeats those that met a newer row.
 */
export const afterDeadlocks = <Result>(work: () => Promise<Result>): Promise<Result> =>
  retryOn(["40P01", "40001"], work, {
    most: 10,
    stepMs: 10,
    busy: "Others kept locking the same rows, so what was left to write was not written. Try again.",
  });

/** Six tries at 0 to 3.1 s. */
const lastWaitMs = 1_600;

/**
 * Repeats `work` while connections fail, for a fast restart. Only for idempotent or guarded work.
 * @param isOver whether the database may have committed it, so that it is not repeated
 */
export async function reconnecting<Result>(
  work: () => Promise<Result>,
  isOver = () => false,
): Promise<Result> {
  for (let waitMs = 100; ; waitMs *= 2) {
    try {
      return await work();
    } catch (error) {
      const cause = MemoryError.is(error) ? error.cause : error;
      const isLost = isLostSession(cause) && !isTimeout(cause);
      if (!isLost || isOver() || waitMs > lastWaitMs) throw error;
    }
    await sleep(waitMs);
  }
}
