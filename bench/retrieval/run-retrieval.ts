import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { BenchDatabase } from "../bench-database.js";
import { printResult } from "../report.js";
import { type Besides, measureConversations } from "./conversations.js";
import { measureFactConsolidation } from "./fact-consolidation.js";
import { measurePrecision } from "./precision-mem-bench.js";
import { readMadial } from "./read-madial.js";
import { readMemDaily } from "./read-memdaily.js";
import { measureRealMem } from "./realmem.js";
import { openContext, type RetrievalContext } from "./retrieval-context.js";
import { type RetrievalConversation, readConversations } from "./retrieval-data.js";

interface Benchmark {
  readonly title: string;
  /** Below the folder of the user: a file, or "*" and how the names of several end. */
  readonly files: readonly string[];
  measure(context: RetrievalContext, title: string, paths: readonly string[]): Promise<object>;
}

const ofConversations =
  (read: (paths: readonly string[]) => RetrievalConversation[], besides?: Besides) =>
  (context: RetrievalContext, title: string, paths: readonly string[]) =>
    measureConversations(context, title, read(paths), besides);

const inOneForm = ([file = ""]: readonly string[]) => readConversations(file);
const madial = ([memories = "", dialogues = "", owners = ""]: readonly string[]) =>
  readMadial({ memories, dialogues, owners });

/** By the name that selects it. */
const benchmarks: Readonly<Record<string, Benchmark>> = {
  locomo: {
    title: "LoCoMo",
    files: ["locomo.json"],
    measure: ofConversations(inOneForm, { noise: true, silences: true }),
  },
  realtalk: {
    title: "REALTALK",
    files: ["realtalk.json"],
    measure: ofConversations(inOneForm, { noise: true }),
  },
  beam: {
    title: "BEAM",
    files: ["beam.json"],
    measure: ofConversations(inOneForm, { noise: true }),
  },
  realmem: {
    title: "RealMem",
    files: ["realmem/*_dialogues_256k.json"],
    measure: (context, _, paths) => measureRealMem(context, paths),
  },
  memdaily: {
    title: "MemDaily",
    files: ["memdaily/*_hybrid.json"],
    measure: ofConversations(readMemDaily),
  },
  madialEnglish: {
    title: "MADial-Bench, English",
    files: [
      "madial/MADial-Bench-en-memory.json",
      "madial/MADial-Bench-en-dialogue.json",
      "madial/MADial-Bench-zh-memory.json",
    ],
    measure: ofConversations(madial),
  },
  madialChinese: {
    title: "MADial-Bench, Chinese",
    files: [
      "madial/MADial-Bench-zh-memory.json",
      "madial/MADial-Bench-zh-dialogue.json",
      "madial/MADial-Bench-zh-memory.json",
    ],
    measure: ofConversations(madial),
  },
  precision: {
    title: "PrecisionMemBench",
    files: ["precisionmembench/beliefs.seed.json", "precisionmembench/retrieval.cases.json"],
    measure: (context, _, [beliefs = "", cases = ""]) =>
      measurePrecision(context, { beliefs, cases }),
  },
  facts: {
    title: "FactConsolidation",
    files: ["factconsolidation/Conflict_Resolution.json"],
    measure: (context, _, [file = ""]) => measureFactConsolidation(context, file),
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
    for (const name of names) {
      const benchmark = benchmarks[name];
      if (!benchmark) continue;
      const { title, files, measure } = benchmark;
      const missing = files.filter((file) => pathsOf(folder, file).length === 0);
      if (missing.length > 0) {
        console.log(`\n${title}: skipped. There is no ${missing.join(", ")} in ${folder}.`);
        continue;
      }
      const paths = files.flatMap((file) => pathsOf(folder, file));
      figures[name] = await measure(context, title, paths);
    }
  } finally {
    await context.close();
  }
  printResult(figures);
}

function pathsOf(folder: string, file: string): string[] {
  const [subfolder = "", ending] = file.split("/*");
  if (ending === undefined) return existsSync(join(folder, file)) ? [join(folder, file)] : [];
  const path = join(folder, subfolder);
  const names = existsSync(path) ? readdirSync(path).toSorted() : [];
  return names.filter((name) => name.endsWith(ending)).map((name) => join(path, name));
}
