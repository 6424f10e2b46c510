import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import pg from "pg";
import { comparePairs, type Pair } from "./against/compare-pairs.js";
import { checkPackages, commitOf, makeRefFolder } from "./against/ref-folder.js";
import { type Side, startSide } from "./against/side.js";
import { options } from "./options.js";
import { printLoad, printResult, printTable } from "./report.js";
import type { Figures } from "./slices.js";

// Compares the working tree with a commit: `npm run bench:NAME -- --against REF [--json]`, run at
// the root of the repository.
//
// Both run their own benchmark, in processes and schemas of their own, so that only `--slices` (see
// slices.ts), the names of npm's scripts and those of figures must be the same in both. REF is
// written into a temporary folder. Its packages are the working tree's if the locks are the same,
// else those of `npm ci`, kept in a temporary folder for the next comparison.
//
// Both load their data once. Then each slice is measured on one side and right after on the other,
// which begins being the other one each time. Whatever else the machine does slows both of a pair,
// so that the ratio of a pair says more than the figures. All slices take turns, so that each is
// measured from the beginning to the end.

const sideOptions = [
  ...(options.small ? ["--small"] : []),
  ...(options.preset === undefined ? [] : [`--preset=${options.preset}`]),
];

/** Rounds before those that count, at most: compilers, plans and caches get warm. */
const warmUps = 20;
/** Of what is measured less often, as it takes longer, fewer. */
const roundsPerWarmUp = 15;

/** Compares the benchmark of `npm run BENCH`, and says what went wrong in one sentence. */
export async function compareCommits(bench: string, ref: string): Promise<void> {
  try {
    await checkDatabase();
    await checkPackages();
    const commit = await commitOf(ref);
    const folder = await makeRefFolder(commit);
    try {
      report(`${ref} (${commit.slice(0, 8)})`, await measureSides(bench, folder));
    } finally {
      await rm(folder, { recursive: true });
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function checkDatabase(): Promise<void> {
  const connectionString = process.env.DATABASE_URL;
  if (!connectionString) throw new Error("Set DATABASE_URL: commits are compared on a server.");
  const client = new pg.Client({ connectionString });
  await client.connect().catch((error: Error) => {
    throw new Error(`The server of DATABASE_URL cannot be used: ${error.message}`);
  });
  await client.end();
}

/** Pairs of each figure that both sides have. */
type Pairs = ReadonlyMap<string, readonly Pair[]>;

async function measureSides(bench: string, folder: string): Promise<Pairs> {
  const sides = [
    startSide(folder, bench, sideOptions),
    startSide(process.cwd(), bench, sideOptions),
  ];
  const close = () => Promise.all(sides.map((side) => side.close()));
  process.once("SIGINT", close);
  try {
    const [before, after] = await Promise.all(sides.map((side) => side.loaded()));
    return await measurePairs(before as Side, after as Side);
  } finally {
    await close();
  }
}

async function measurePairs(before: Side, after: Side): Promise<Pairs> {
  const pairs = new Map<string, Pair[]>();
  const slices = Object.entries(after.slices).filter(([name]) => name in before.slices);
  const rounds = Math.max(0, ...slices.map(([, count]) => count));
  for (let round = -warmUps; round < rounds; round++) {
    if (round % 50 === 0) console.error(`Round ${round} of ${rounds}`);
    const inRound = slices.filter(
      ([, count]) => round < count && -round <= count / roundsPerWarmUp,
    );
    for (const [index, [name]] of inRound.entries()) {
      const isSwapped = (round + index) % 2 === 0;
      const [first, second] = isSwapped ? [after, before] : [before, after];
      const figures = [await first.measure(name), await second.measure(name)] as const;
      if (round >= 0) addPairs(pairs, isSwapped ? [figures[1], figures[0]] : figures);
    }
  }
  return pairs;
}

function addPairs(pairs: Map<string, Pair[]>, [old, own]: readonly [Figures, Figures]): void {
  for (const [figure, value] of Object.entries(own)) {
    const former = old[figure];
    if (former !== undefined) pairs.set(figure, [...(pairs.get(figure) ?? []), [former, value]]);
  }
}

function report(before: string, pairs: Pairs): void {
  const comparisons = [...pairs].map(([figure, of]) => ({ figure, ...comparePairs(of) }));
  if (process.env.BENCH_PAIRS) writeFileSync(process.env.BENCH_PAIRS, JSON.stringify([...pairs]));
  if (!options.json) {
    const hasSpread = comparisons.some(({ pairs }) => pairs > 1);
    printTable(
      `The working tree beside ${before}`,
      comparisons.map(({ figure, before, after, ratio, interval, quartiles, pairs }) => ({
        figure,
        before,
        after,
        ratio: ratio.toFixed(3),
        ...(hasSpread && {
          "95 %": range(interval),
          quartiles: range(quartiles),
          pairs,
        }),
      })),
    );
    printLoad();
  }
  printResult({ comparisons });
}

function range([low, high]: readonly [number, number]): string {
  return `${low.toFixed(3)} to ${high.toFixed(3)}`;
}
