import { openBenchDatabase } from "./bench-database.js";
import { compareSources, compareWithStores, countRoundTrips } from "./recall/compare-recalls.js";
import { compareDimensions, compareGrowth } from "./recall/compare-tables.js";
import { compareWithSelect1, weighHeld } from "./recall/held-cost.js";
import { compareEmbedded } from "./recall/held-embedded.js";
import { loadBench } from "./recall/load-bench.js";
import { compareThreads } from "./recall/long-threads.js";
import { fullSizes, smallSizes } from "./recall/sizes.js";
import { compareThroughput } from "./recall/throughput.js";
import { compareWrites, measureLinks } from "./recall/write-cost.js";
import { printEnvironment, printLoad, printResult } from "./report.js";

/** `npm run bench:recall -- --small` only shows that the benchmark works: its numbers mean nothing. */
const sizes = process.argv.includes("--small") ? smallSizes : fullSizes;

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const bench = await loadBench(database, sizes);

  const { speedup, held: heldStores } = await compareWithStores(bench, sizes);
  const { held: heldSources, ...sourceCost } = await compareSources(bench, sizes);
  const roundTrips = await countRoundTrips(database, bench);
  const throughput = await compareThroughput(database, bench, sizes);
  const held = {
    ...{ ...heldStores, sources: heldSources },
    ...(await compareWithSelect1(database, bench, sizes)),
    ...(await weighHeld(database, bench)),
    ...(await compareEmbedded(bench, sizes)),
  };
  const dims1536 = await compareDimensions(database, bench, sizes);
  const { longThread, remember } = await compareThreads(database, bench, sizes);
  const growthP95 = await compareGrowth(database, bench, sizes);
  // Last: they add to what the others read.
  const { add, addCold, ...writeCost } = await compareWrites(bench, sizes);
  const edgeMs = await measureLinks(database, bench, sizes);
  await bench.peers?.close();
  await bench.holding.close();
  await bench.memory.close();

  if (database.server === null)
    console.log(
      "\nDATABASE_URL is not set: LangGraph's stores, recalls at once and the growth of the table are left out.",
    );
  printLoad();
  const writeGrowth = { add, addCold, remember };
  printResult({
    ...{ speedup, ...sourceCost, growthP95, roundTrips, ...writeCost, edgeMs },
    ...{ dims1536, longThread, writeGrowth, held, throughput },
  });
} finally {
  await database.close();
}
