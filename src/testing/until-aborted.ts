import { setTimeout as sleep } from "node:timers/promises";

/**
 * The result of `work`, or a rejection with the signal's reason as soon as it aborts.
 * `work` itself goes on: it is only no longer waited for.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Resolves after `milliseconds`; rejects with the signal's reason, and drops the timer, when it aborts first. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (milliseconds <= 0) return;
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    // node wraps the reason; callers compare it (a timeout is not a cancellation)
    signal?.throwIfAborted();
    throw error;
  }
}
