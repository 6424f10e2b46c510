import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../errors.js";
import { errorCodeOf, isConnectionError, isTimeout } from "./database-error.js";

/** `work` of `retryOn` returns it for a conflict without a database error. */
export const collided = Symbol("collided");

interface Collisions {
  /** Attempts in all. Each failure means that another writer made progress. */
  readonly most: number;
  /** The growth of the random waits with each attempt, in milliseconds. @default 0 */
  readonly stepMs?: number;
  readonly busy: string;
}

/** Repeats `work` when it returns `collided` or fails with these SQLSTATEs. @throws MemoryError `BUSY` */
export async function retryOn<Result>(
  codes: readonly string[],
  work: () => Promise<Result | typeof collided>,
  { most, stepMs = 0, busy }: Collisions,
): Promise<Result> {
  const met = new MemoryError("BUSY", busy);
  const isCollision = (error: unknown) =>
    error === met || (error instanceof Error && codes.includes(errorCodeOf(error.cause)));
  const once = async () => {
    const result = await work();
    if (result === collided) throw met;
    return result;
  };
  try {
    return await retrying(once, { most, when: isCollision, waitMs: (failures) => Math.random() * stepMs * failures });
  } catch (cause) {
    throw cause !== met && isCollision(cause) ? new MemoryError("BUSY", busy, { cause }) : cause;
  }
}

interface Retries {
  readonly most: number;
  readonly waitMs: (failures: number) => number;
  /** Whether the next attempt may succeed after this error. */
  readonly when: (error: unknown) => boolean;
}

// Tries at 0 to 3.1 s, as a pooler or a fast restart takes. Only for what is idempotent or guarded.
export const reconnect: Retries = {
  most: 6,
  waitMs: (failures) => 100 * 2 ** (failures - 1),
  when: (error) => !MemoryError.is(error) && isConnectionError(error) && !isTimeout(error),
};

export async function retrying<Result>(work: () => Promise<Result>, { most, waitMs, when }: Retries): Promise<Result> {
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
