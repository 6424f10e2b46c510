import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BenchDatabase } from "../bench-database.js";
import { printResult } from "../report.js";
import { type Besides, measureConversations } from "./conversations.js";
import { measurePrecision } from "./precision-mem-bench.js";
import { readFactConsolidation } from "./read-fact-consolidation.js";
import { readMadial } from "./read-madial.js";
import { readMemDaily } from "./read-memdaily.js";
import { readRealMem } from "./read-realmem.js";
import { openContext } from "./retrieval-context.js";
import { type RetrievalConversation, readConversations } from "./retrieval-data.js";

interface Benchmark extends Besides {
  /** Below the user's folder. "*" stands for the beginning of several names. */
  readonly files: readonly string[];
  /** Absent if the benchmark has no recall to measure. */
  readonly read?: (paths: readonly string[]) => RetrievalConversation[];
}

const benchmarks: Readonly<Record<string, Benchmark>> = {
  LoCoMo: { files: ["locomo.json"], read: readConversations, noise: true, silences: true },
  REALTALK: { files: ["realtalk.json"], read: readConversations, noise: true },
  BEAM: { files: ["beam.json"], read: readConversations, noise: true },
  RealMem: { files: ["realmem/*_dialogues_256k.json"], read: readRealMem },
  MemDaily: { files: ["memdaily/*_hybrid.json"], read: readMemDaily },
  MADial: {
    files: [
      "madial/MADial-Bench-en-memory.json",
      "madial/MADial-Bench-en-dialogue.json",
      "madial/MADial-Bench-zh-memory.json",
      "madial/MADial-Bench-zh-dialogue.json",
    ],
    read: readMadial,
  },
  FactConsolidation: {
    files: ["factconsolidation/Conflict_Resolution.json"],
    read: readFactConsolidation,
  },
  PrecisionMemBench: {
    files: ["precisionmembench/beliefs.seed.json", "precisionmembench/retrieval.cases.json"],
  },
};

/** The names of the benchmarks, each with its files. */
export const benchmarkFiles: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(benchmarks).map(([name, { files }]) => [name, files]),
);

/**
 * Runs the benchmarks in `names` on the data in `folder`, through the public API, with defaults and
 * without any model. Prints tables and a line of JSON.
 */
export async function runRetrieval(
  database: BenchDatabase,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const context = await openContext(database);
  const figures: Record<string, object> = {};
  try {
    for (const [name, { files, read, ...besides }] of Object.entries(benchmarks)) {
      if (!names.includes(name)) continue;
      const paths = files.map((file) => pathsOf(folder, file));
      const missing = files.filter((_, index) => paths[index]?.length === 0);
      if (missing.length > 0) {
        console.log(`\n${name}: skipped. There is no ${missing.join(", ")} in ${folder}.`);
      } else if (read) {
        const conversations = read(paths.flat());
        figures[name] = await measureConversations(context, name, conversations, besides);
      } else {
        figures[name] = await measurePrecision(context, paths.flat());
      }
    }
  } finally {
    await context.close();
  }
  printResult(figures);
}

function pathsOf(folder: string, file: string): string[] {
  const path = join(folder, file);
  const [, ending] = file.split("*");
  if (ending === undefined || !existsSync(dirname(path))) return [path].filter(existsSync);
  const names = readdirSync(dirname(path)).filter((name) => name.endsWith(ending));
  return names.toSorted().map((name) => join(dirname(path), name));
}
