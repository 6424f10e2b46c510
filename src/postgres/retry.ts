import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../errors.js";
import { errorCodeOf, isConnectionError, isTimeout } from "./database-error.js";

/** What `work` of `retryOn` returns when it met another writer without an error of the database's. */
export const collided = Symbol("collided");

/** How often to try again what others get in the way of. */
interface Collisions {
  /** Tries in all, the first included. Each that fails says that somebody else made progress. */
  readonly most: number;
  /** How much the waits grow with each try, in milliseconds; their lengths are random. @default 0 */
  readonly stepMs?: number;
  /** What to say when none of the tries went through. */
  readonly busy: string;
}

/**
 * The result of `work`, a statement or a transaction that others may get in the way of: tried again when it returns
 * `collided`, or fails with one of these SQLSTATEs.
 *
 * @throws MemoryError `BUSY` when it collided each time; whatever else `work` throws.
 */
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
    return await retrying(once, {
      ...{ most, when: isCollision },
      waitMs: (failures) => Math.random() * stepMs * failures,
    });
  } catch (cause) {
    throw cause !== met && isCollision(cause) ? new MemoryError("BUSY", busy, { cause }) : cause;
  }
}

/** When to try again, and how long to wait before. */
interface Retries {
  /** Tries in all, the first included. */
  readonly most: number;
  /** Milliseconds to wait after so many failures. */
  readonly waitMs: (failures: number) => number;
  /** Whether what `work` threw may be gone by the next try. */
  readonly when: (error: unknown) => boolean;
}

/**
 * Tries at 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s: long enough for a pooler or a fast server restart, short enough
 * for someone who waits. For statements and writes that are idempotent or guarded, so that trying again is safe.
 */
export const reconnect: Retries = {
  most: 6,
  waitMs: (failures: number) => 100 * 2 ** (failures - 1),
  when: (error: unknown) => !MemoryError.is(error) && isConnectionError(error) && !isTimeout(error),
};

/** The result of `work`, tried again while that may help; then its last error. */
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
