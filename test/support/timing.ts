/**
 * How long what tests do may take, in milliseconds, by its kind.
 *
 * Limits end what hangs and prove nothing: each is many times what a quiet machine of two cores needs, so that a test
 * fails neither on a slow machine nor beside other work.
 */
export const limitsMs = {
  /** Something that a test waits for: less than a test may take, so that the failure says what did not come. */
  step: 150_000,
  /** A test, or a hook of a file. */
  test: 300_000,
  /** A test that takes seconds by design: thousands of runs, or an attack. */
  long: 1_200_000,
} as const;

/**
 * Milliseconds of the processor that `work` takes in this process, which other work beside it hardly changes.
 *
 * @param enough no second try once a try took no longer. A try can be slowed by garbage of what ran before.
 * @returns the least of at most three tries.
 */
export function processorMs(work: () => unknown, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > enough; tries++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
