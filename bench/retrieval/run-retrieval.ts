import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { printResult } from "../report.js";
import { createTable } from "./bm25.js";
import { type MeasuresByType, measureConversations } from "./conversations.js";
import { instructionsOf, withNoise, withSilences } from "./extra-questions.js";
import { figuresOf } from "./figures.js";
import { readFactConsolidation } from "./read-fact-consolidation.js";
import { readMadial } from "./read-madial.js";
import { readMemDaily } from "./read-memdaily.js";
import { readPrecisionMemBench } from "./read-precision-mem-bench.js";
import { readRealMem } from "./read-realmem.js";
import { type RetrievalConversation, readConversations } from "./retrieval-data.js";
import { openEmbeddings, openStore, withMemories } from "./vectors.js";

const readWithNoise = (file: string) => readConversations(file).map(withNoise);

/** By the name of a file or folder below the user's folder. */
const readers: Readonly<Record<string, (path: string) => RetrievalConversation[]>> = {
  "locomo.json": (file) => readWithNoise(file).map(withSilences),
  "realtalk.json": readWithNoise,
  "beam.json": (file) => [...readWithNoise(file), ...instructionsOf(readConversations(file))],
  realmem: readRealMem,
  memdaily: readMemDaily,
  madial: readMadial,
  "factconsolidation.json": readFactConsolidation,
  precisionmembench: readPrecisionMemBench,
};

export const benchmarks: readonly string[] = Object.keys(readers);

/**
 * Runs the benchmarks in `names` on the data in `folder`, through the public API, without any model
 * but, with `hasVectors`, a local one for embeddings.
 * Prints tables and a line of JSON.
 */
export async function runRetrieval(
  database: BenchDatabase,
  folder: string,
  names: readonly string[],
  hasVectors: boolean,
): Promise<void> {
  const embeddings = hasVectors ? openEmbeddings() : undefined;
  const store = embeddings && (await openStore(database, embeddings));
  const words = { database: database.source, schema: database.schema };
  const options = { ...words, ...(embeddings && { embeddings }) };
  const memory = await openBenchMemory(options);
  const wordsOnly = embeddings && (await openBenchMemory(words));
  const unfiltered = await openBenchMemory(options, { retrieval: { threshold: 0 } });
  const context = { database, memory, unfiltered, wordsOnly, store };
  const measured: Record<string, MeasuresByType> = {};
  try {
    await createTable(database);
    for (const name of names) {
      const path = join(folder, name);
      if (existsSync(path)) {
        const all = readers[name]?.(path) ?? [];
        const conversations = store ? all.map(withMemories) : all;
        measured[name] = await measureConversations(context, name, conversations);
      } else {
        console.log(`\nThere is no ${path}: skipped.`);
      }
    }
  } finally {
    await wordsOnly?.close();
    await unfiltered.close();
    await memory.close();
    await store?.close();
  }
  printResult(figuresOf(measured));
}
