import { compareCommits } from "./against.js";
import { type BenchDatabase, openBenchDatabase } from "./bench-database.js";
import { options } from "./options.js";
import { printEnvironment, printLoad, printResult } from "./report.js";
import { type Slices, serveSlices } from "./slices.js";

/** A benchmark that can compare commits. */
export interface Bench {
  /** Measures everything and prints it. */
  readonly report: (database: BenchDatabase) => Promise<object>;
  /** Loads everything, gives its slices to `work`, and closes what was opened. */
  readonly withSlices: (
    database: BenchDatabase,
    work: (slices: Slices) => Promise<void>,
  ) => Promise<void>;
}

/** Runs the benchmark of `npm run NAME` as its options say: see options.ts. */
export async function runBench(name: string, { report, withSlices }: Bench): Promise<void> {
  if (options.against !== undefined) return compareCommits(name, options.against);
  const database = await openBenchDatabase();
  try {
    if (options.slices) return await withSlices(database, serveSlices);
    printEnvironment(database);
    const result = await report(database);
    printLoad();
    printResult(result);
  } finally {
    await database.close();
  }
}
