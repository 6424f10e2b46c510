import { options } from "./options.js";
import { compareSources, compareWithStores, countRoundTrips } from "./recall/compare-recalls.js";
import { compareDimensions, compareGrowth } from "./recall/compare-tables.js";
import { loadBench, loadPeers } from "./recall/load-bench.js";
import { compareThreads } from "./recall/long-threads.js";
import { measureCost } from "./recall/recall-cost.js";
import { fullSizes, smallSizes } from "./recall/sizes.js";
import { withRecallSlices } from "./recall/slices.js";
import { compareWrites, measureLinks } from "./recall/write-cost.js";
import { runBench } from "./run-bench.js";

// What recall and writes take, beside LangGraph's stores.
//   npm run bench:recall [-- --small] [--against REF [--json]]
// --small only shows that it works; --against compares the working tree with a commit.

const sizes = options.small ? smallSizes : fullSizes;

await runBench("bench:recall", {
  async report(database) {
    const bench = await loadPeers(database, await loadBench(database, sizes));

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
    return {
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
    };
  },
  withSlices: (database, work) => withRecallSlices(database, sizes, work),
});
