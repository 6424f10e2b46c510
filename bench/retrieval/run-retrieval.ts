import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Memory } from "../../src/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { printResult } from "../report.js";
import { createTable } from "./bm25.js";
import { type MeasuresByType, measureConversations } from "./conversations.js";
import { withNoise, withSilences } from "./extra-questions.js";
import { figuresOf } from "./figures.js";
import { readFactConsolidation } from "./read-fact-consolidation.js";
import { readMadial } from "./read-madial.js";
import { readMemDaily } from "./read-memdaily.js";
import { readPrecisionMemBench } from "./read-precision-mem-bench.js";
import { readRealMem } from "./read-realmem.js";
import { type RetrievalConversation, readConversations } from "./retrieval-data.js";

/** The product that is measured. */
export interface RetrievalContext {
  readonly database: BenchDatabase;
  /** With the defaults of retrieval. */
  readonly memory: Memory;
  /** The same data; its recalls have threshold 0. */
  readonly unfiltered: Memory;
}

interface Benchmark {
  /** Below the user's folder. "*" stands for the beginning of several names. */
  readonly files: readonly string[];
  readonly read: (paths: readonly string[]) => RetrievalConversation[];
}

const withNoisyQuestions: Benchmark["read"] = (paths) => readConversations(paths).map(withNoise);

const benchmarks: Readonly<Record<string, Benchmark>> = {
  LoCoMo: {
    files: ["locomo.json"],
    read: (paths) => withNoisyQuestions(paths).map(withSilences),
  },
  REALTALK: { files: ["realtalk.json"], read: withNoisyQuestions },
  BEAM: { files: ["beam.json"], read: withNoisyQuestions },
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
    read: readPrecisionMemBench,
  },
};

/** The names of the benchmarks, each with its files. */
export const benchmarkFiles: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(benchmarks).map(([name, { files }]) => [name, files]),
);

/**
 * Runs the benchmarks in `names` on the data in `folder`, through the public API, without any model.
 * Prints tables and a line of JSON.
 */
export async function runRetrieval(
  database: BenchDatabase,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const { source, schema } = database;
  const options = { database: source, schema };
  const memory = await openBenchMemory(options);
  const unfiltered = await openBenchMemory(options, { retrieval: { threshold: 0 } });
  const measured = new Map<string, MeasuresByType>();
  try {
    await createTable(database);
    for (const [name, { files, read }] of Object.entries(benchmarks)) {
      if (!names.includes(name)) continue;
      const paths = files.map((file) => pathsOf(folder, file));
      const missing = files.filter((_, index) => paths[index]?.length === 0);
      if (missing.length > 0) {
        console.log(`\n${name}: skipped. There is no ${missing.join(", ")} in ${folder}.`);
        continue;
      }
      const context = { database, memory, unfiltered };
      measured.set(name, await measureConversations(context, name, read(paths.flat())));
    }
  } finally {
    await unfiltered.close();
    await memory.close();
  }
  printResult(figuresOf(measured));
}

function pathsOf(folder: string, file: string): string[] {
  const path = join(folder, file);
  const [, ending] = file.split("*");
  if (ending === undefined || !existsSync(dirname(path))) return [path].filter(existsSync);
  const names = readdirSync(dirname(path)).filter((name) => name.endsWith(ending));
  return names.toSorted().map((name) => join(dirname(path), name));
}
