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
