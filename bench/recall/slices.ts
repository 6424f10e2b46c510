import type { BenchDatabase } from "../bench-database.js";
import { startCpu } from "../server-cpu.js";
import { fewPairs, manyPairs, type Slices, timedSlices } from "../slices.js";
import type { Timed } from "../timing.js";
import { countRoundTrips, readerRecall, sourceRecalls } from "./compare-recalls.js";
import { loadDimensions } from "./compare-tables.js";
import { loadBench } from "./load-bench.js";
import { loadThreads } from "./long-threads.js";
import { firstRecall } from "./recall-cost.js";
import type { Sizes } from "./sizes.js";
import { writesOf } from "./write-cost.js";

/**
 * What two commits are compared by: all but LangGraph's stores, which are the same, and the table of
 * a million rows, which takes many minutes to load.
 */
export async function withRecallSlices(
  database: BenchDatabase,
  sizes: Sizes,
  work: (slices: Slices) => Promise<void>,
): Promise<void> {
  const { server, schema } = database;
  if (server === null) throw new Error("Set DATABASE_URL: slices are measured on a server.");
  const { recalls } = sizes;
  const bench = await loadBench(database, sizes);
  const long = await loadDimensions(database, bench, sizes, 1_536);
  const threads = await loadThreads(database, bench, sizes);
  const { talker, alone } = sourceRecalls(bench, recalls);
  const writes = writesOf(bench);
  const readers = bench.readers.map((reader): [string, Timed] => [
    `recall of ${reader.texts.length}`,
    readerRecall(bench.memory, reader, recalls),
  ]);
  const cpu = () => startCpu(server, schema);
  await work({
    roundTrips: {
      pairs: 1,
      measure: async () => ({ roundTrips: await countRoundTrips(database, bench) }),
    },
    ...timedSlices(
      {
        ...Object.fromEntries(readers),
        "recall from a conversation": talker,
        "recall beside no conversation": alone,
        "recall by 1536 dimensions": long.recall,
        "recall in a short thread": threads.recalls.short,
        "recall in a long thread": threads.recalls.longest,
      },
      manyPairs,
      cpu,
    ),
    ...timedSlices({ firstCallMs: firstRecall(server, schema, bench) }, fewPairs),
    ...timedSlices(
      {
        "remember in a short thread": threads.remembers.short,
        "remember in a long thread": threads.remembers.longest,
        "add to none": writes.single.none,
        "add to few": writes.single.few,
        "add to many": writes.single.many,
      },
      fewPairs,
      cpu,
    ),
    ...timedSlices({ "add a batch": writes.batch.add }, fewPairs, cpu),
  });
  await Promise.all([long.close(), threads.close(), bench.memory.close()]);
}
