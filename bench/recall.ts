import { openBenchDatabase } from "./bench-database.js";
import { compareSources, compareWithStores, countRoundTrips } from "./recall/compare-recalls.js";
import { compareDimensions, compareGrowth } from "./recall/compare-tables.js";
import { loadBench } from "./recall/load-bench.js";
import { compareThreads } from "./recall/long-threads.js";
import { measureCost } from "./recall/recall-cost.js";
import { fullSizes, smallSizes } from "./recall/sizes.js";
import { compareWrites, measureLinks } from "./recall/write-cost.js";
import { printEnvironment, printLoad, printResult } from "./report.js";

/**
 * `npm run bench:recall -- --small` only shows that the benchmark works: its numbers mean nothing.
 */
const sizes = process.argv.includes("--small") ? smallSizes : fullSizes;

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const bench = await loadBench(database, sizes);

  const speedup = await compareWithStores(bench, sizes);
  const cost = await measureCost(database, bench, sizes);
  const sourceCost = await compareSources(bench, sizes);
  const roundTrips = await countRoundTrips(database, bench);
  const dims1536 = await compareDimensions(database, bench, sizes);
  const { longThread, remember } = await compareThreads(database, bench, sizes);
  const growthP95 = await compareGrowth(database, bench, sizes);
  // Last: it adds to what the others read.
  const { add, ...writeCost } = await compareWrites(bench, sizes);
  const edgeMs = await measureLinks(database, bench, sizes);
  await bench.peers?.close();
  await bench.memory.close();

  if (database.server === null)
    console.log(
      "\nDATABASE_URL is not set: LangGraph's stores and the growth of the table are left out.",
    );
  printLoad();
  printResult({
    speedup,
    ...cost,
    ...sourceCost,
    growthP95,
    roundTrips,
    ...writeCost,
    edgeMs,
    dims1536,
    longThread,
    writeGrowth: { add, remember },
  });
} finally {
  await database.close();
}
