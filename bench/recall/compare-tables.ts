import type { Memory } from "../../src/index.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { checkMemories } from "../data/check-data.js";
import { makeCorpus } from "../data/corpus.js";
import { loadMemories, multiplyMemories } from "../data/load-memories.js";
import { printTable } from "../report.js";
import { printTimings, timeInTurns } from "../timing.js";
import { questionsAbout, readerRecall, recallOf } from "./compare-recalls.js";
import { type LoadedBench, makeSpace, readerOf, talk } from "./load-bench.js";
import { facts, type Sizes } from "./sizes.js";

/** What recall costs with vectors of 1,536 dimensions, those of the common embedding services. */
export interface DimensionCost {
  readonly p50Ms: number;
  /** ÷ p50 with 384 dimensions. */
  readonly ratio: number;
}

/**
 * Recall of the same 1,000 memories, in two tables that differ in the length of their vectors only.
 */
export async function compareDimensions(
  database: BenchDatabase,
  bench: LoadedBench,
  sizes: Sizes,
): Promise<DimensionCost> {
  const { dimensionRows, recalls } = sizes;
  const short = await loadDimensions(database, bench, sizes, 384);
  const long = await loadDimensions(database, bench, sizes, 1_536);
  const { "384 dimensions": p384, "1,536 dimensions": p1536 } = await timeInTurns(
    { "384 dimensions": short.recall, "1,536 dimensions": long.recall },
    recalls,
  );
  await Promise.all([short.close(), long.close()]);
  const rows = dimensionRows.toLocaleString("en");
  printTimings(
    `Recall of one user's ${facts.toLocaleString("en")} memories among ${rows}, by dimensions`,
    {
      "384 dimensions": p384,
      "1,536 dimensions": p1536,
    },
  );
  return { p50Ms: p1536.p50, ratio: p1536.p50 / p384.p50 };
}

/** The recall of the user with 1,000 memories, in a table whose vectors have so many dimensions. */
export async function loadDimensions(
  database: BenchDatabase,
  bench: LoadedBench,
  { dimensionRows, recalls }: Sizes,
  dimensions: number,
) {
  const reader = readerOf(bench);
  const embeddings = new HashingEmbeddings({ dimensions });
  const schema = `${database.schema}_${dimensions}`;
  const memory = await openBenchMemory({ database: database.source, schema, embeddings });
  await makeSpace(memory);
  const corpus = await makeCorpus([reader], dimensionRows, embeddings);
  await loadMemories(database.pool, schema, corpus);
  await checkMemories(database.pool, schema, corpus);
  const questions = questionsAbout(reader.texts, recalls);
  const recall = recallOf(memory, reader, { questions, threadId: "a new thread" });
  return { recall, close: () => memory.close() };
}

/**
 * p95 of the user with 1,000 memories: in a table `growth` times as large ÷ in the one that is
 * loaded. Null without a server.
 */
export async function compareGrowth(
  database: BenchDatabase,
  bench: LoadedBench,
  { growth, growthRecalls }: Sizes,
): Promise<number | null> {
  const { server, pool, schema } = database;
  if (server === null) return null;
  const reader = readerOf(bench);
  const grown = `${schema}_grown`;
  const memory = await openBenchMemory(
    {
      database: server,
      schema: grown,
      embeddings: bench.embeddings,
      model: new OfflineChatModel(),
    },
    { preset: "every-round" },
  );
  await makeSpace(memory);
  const unsourced = bench.corpus.map((loaded) => ({ ...loaded, source: null }));
  await loadMemories(pool, grown, unsourced);
  await checkMemories(pool, grown, unsourced);
  await talk(memory, reader);
  await multiplyMemories(pool, grown, growth - 1);
  const rows = {
    before: await countRows(database, schema),
    after: await countRows(database, grown),
  };
  if (rows.after !== bench.corpus.length * growth)
    throw new Error(`The table has grown to ${rows.after} rows.`);

  const recall = (from: Memory) => readerRecall(from, reader, growthRecalls);
  const { before, after } = await timeInTurns(
    { before: recall(bench.memory), after: recall(memory) },
    growthRecalls,
  );
  await memory.close();
  printTable(
    `Recall of one user's ${facts.toLocaleString("en")} memories as the table grows`,
    [before, after].map(({ n, p50, p95 }, index) => ({
      rows: index === 0 ? rows.before : rows.after,
      n,
      "p50 ms": p50,
      "p95 ms": p95,
    })),
  );
  return after.p95 / before.p95;
}

/** Memories of `schema`, each with its vector. */
async function countRows({ pool }: BenchDatabase, schema: string): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>(
    `select count(*)::integer as rows from "${schema}".memory m
     join "${schema}".memory_embedding e on e.memory_ref = m.ref`,
  );
  return rows[0]?.rows ?? 0;
}
