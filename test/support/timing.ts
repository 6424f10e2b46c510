/**
 * Limits that end what hangs, in milliseconds: many times what a quiet machine of two cores needs.
 */
export const limitsMs = {
  /** A wait within a test; less than `test`, so that the failure names it. */
  step: 150_000,
  test: 300_000,
  /** A test with thousands of runs, or an attack. */
  long: 1_200_000,
} as const;

/**
 * Processor time of `work` in milliseconds: the least of at most three tries.
 *
 * @param enough no further try once a try took no longer. Garbage of earlier work can slow a try.
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

/**
 * Processor time of `work` on `size` in milliseconds, and how many times that of a tenth of `size`
 * it is: ten times if it grows in proportion.
 *
 * @param enough what takes no longer is quick enough: there the clock says little, and growth is 0.
 */
export function growthOf(work: (size: number) => unknown, size: number, enough: number) {
  const ms = processorMs(() => work(size), enough);
  if (ms <= enough) return { ms, growth: 0 };
  const least = enough / 25;
  return {
    ms,
    growth:
      ms /
      Math.max(
        processorMs(() => work(size / 10), least),
        least,
      ),
  };
}
