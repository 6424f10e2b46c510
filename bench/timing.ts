import { printTable } from "./report.js";

/** Does something once and says how many milliseconds it took; `turn` counts from 0. */
export type Timed = (round: number) => Promise<number>;

/** How long something took, over `n` timings. */
export interface Timing {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
}

/** How often each contestant is timed, and how many turns before that warm caches and plans. */
export interface Rounds {
  readonly rounds: number;
  readonly warmUps: number;
}

/**
 * Times `run`.
 *
 * @param check looks at what came of it, after the clock has stopped, and throws when that is not
 * what is measured.
 */
export function timed<Result>(
  run: (round: number) => Promise<Result>,
  check: (result: Result, round: number) => void | Promise<void> = () => {},
): Timed {
  return async (round) => {
    const startedAt = performance.now();
    const result = await run(round);
    const ms = performance.now() - startedAt;
    await check(result, round);
    return ms;
  };
}

/**
 * Times contestants in turns, another one first in each round, so that whatever else the machine
 * does meets them all. Throws when a contestant's check does.
 */
export async function timeInTurns<Contestants extends Readonly<Record<string, Timed>>>(
  contestants: Contestants,
  { rounds, warmUps }: Rounds,
): Promise<{ [Name in keyof Contestants]: Timing }> {
  const entries = Object.entries(contestants).map(([name, run]) => ({
    name,
    run,
    ms: [] as number[],
  }));
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const { run, ms } of inTurn(entries, round)) {
      const took = await run(round);
      if (round >= warmUps) ms.push(took);
    }
  }
  const timings = Object.fromEntries(entries.map(({ name, ms }) => [name, timing(ms)]));
  return timings as { [Name in keyof Contestants]: Timing };
}

/** `items`, beginning with another one in each turn. */
export function inTurn<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Prints a line for each contestant. */
export function printTimings(title: string, timings: Readonly<Record<string, Timing>>): void {
  printTable(
    title,
    Object.entries(timings).map(([what, { n, p50, p95 }]) => ({
      what,
      n,
      "p50 ms": p50,
      "p95 ms": p95,
    })),
  );
}

/** What is printed of so many milliseconds. */
export function timing(ms: readonly number[]): Timing {
  return { n: ms.length, p50: percentile(ms, 0.5), p95: percentile(ms, 0.95) };
}

/** The value that `share` of `values` stay below (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
