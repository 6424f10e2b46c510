import type pg from "pg";
import { createMemoryWith } from "../../src/create-memory.js";
import type { Memory } from "../../src/index.js";
import { type BenchDatabase, vacuumSchema } from "../bench-database.js";

/** The product that is measured. */
export interface RetrievalContext {
  readonly pool: pg.Pool;
  /** With its defaults. */
  readonly memory: Memory;
  /** The same data without the default floor: its recalls have threshold 0. */
  readonly unfiltered: Memory;
  /** Refreshes the statistics of the tables, as autovacuum does in time. */
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

/** A search that is stopped on a busy machine would count as one that found nothing. */
const patient = { retrieval: { timeoutMs: 60_000 } };

/** Words alone: no model and no embeddings. */
export async function openContext(database: BenchDatabase): Promise<RetrievalContext> {
  const { pool, source, schema } = database;
  const options = { database: source, schema };
  const memory = createMemoryWith(options, patient);
  const config = { retrieval: { threshold: 0 } };
  const unfiltered = createMemoryWith({ ...options, config }, patient);
  await memory.setup();
  return {
    pool,
    memory,
    unfiltered,
    vacuum: () => vacuumSchema(pool, schema),
    async close() {
      await unfiltered.close();
      await memory.close();
    },
  };
}
