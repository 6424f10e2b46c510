/** Longest wait between two attempts: an hour, so that a model back from an outage is found the same hour. */
const longestDelayMs = 3_600_000;

/**
 * How long to wait after the `attempts`-th failed attempt: `firstDelayMs`, then twice as long each time.
 *
 * @param attempts 1 for the first failure.
 */
export function retryDelayMs(attempts: number, firstDelayMs: number): number {
  // 2^22 ms is over an hour, and more doublings would only run into infinity.
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(22, Math.max(0, attempts - 1)));
}
