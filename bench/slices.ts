import { createInterface } from "node:readline";
import type { CpuTime } from "./server-cpu.js";
import type { Timed } from "./timing.js";

// How a benchmark is measured beside another commit's. `npm run bench:NAME -- --slices` loads its
// data, prints the names of its slices as one line of JSON, and then measures a slice for each line
// of standard input, which has the slice's name. Its figures are one line of JSON. The end of
// standard input ends it. Both commits of a comparison have to agree on this and on names only.

/** What is compared: figures by name. */
export type Figures = Readonly<Record<string, number>>;

/** A small part of a benchmark, which takes less than a second. */
export interface Slice {
  /** How often two commits are compared by it; once if chance has no part in it. */
  readonly pairs: number;
  /** @param round counts from 0. */
  measure(round: number): Promise<Figures>;
}

/** A benchmark's slices, by name. */
export type Slices = Readonly<Record<string, Slice>>;

/** The line that `--slices` prints first. */
export interface Announcement {
  /** Pairs of each slice. */
  readonly slices: Readonly<Record<string, number>>;
}

/** Odd numbers: the median is one of the values. */
export const manyPairs = 401;
/** Of what takes long, as fifty users at once do, or leaves more rows each time. */
export const fewPairs = 41;

/** Measures the slices that standard input asks for. */
export async function serveSlices(slices: Slices): Promise<void> {
  const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const rounds = new Map<string, number>();
  const names = Object.entries(slices).map(([name, { pairs }]) => [name, pairs] as const);
  print({ slices: Object.fromEntries(names) } satisfies Announcement);
  for await (const name of createInterface({ input: process.stdin })) {
    const round = rounds.get(name) ?? 0;
    const slice = slices[name];
    if (!slice) throw new Error(`There is no slice "${name}".`);
    print(await slice.measure(round));
    rounds.set(name, round + 1);
  }
}

/**
 * A slice of one call for each of `timed`. Single calls tell two commits apart sooner than a few
 * calls at a time: what disturbs a call disturbs its pair alone.
 *
 * @param startCpu adds the processor time of a call.
 */
export function timedSlices(
  timed: Readonly<Record<string, Timed>>,
  pairs: number,
  startCpu?: () => Promise<() => CpuTime>,
): Slices {
  const sliceOf = (name: string, call: Timed): Slice => ({
    pairs,
    async measure(round) {
      const stopCpu = await startCpu?.();
      const ms = await call(round);
      const cpu = stopCpu?.();
      return {
        [name]: ms,
        ...(cpu && { [`${name} clientCpuMs`]: cpu.clientMs }),
        ...(cpu?.serverMs && { [`${name} serverCpuMs`]: cpu.serverMs }),
      };
    },
  });
  const slices = Object.entries(timed).map(([name, call]) => [name, sliceOf(name, call)] as const);
  return Object.fromEntries(slices);
}
