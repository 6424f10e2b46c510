import { setTimeout } from "node:timers/promises";
import type pg from "pg";
import { HashingEmbeddings } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { printTable } from "../report.js";
import type { Filled } from "./fill.js";
import type { Schemas } from "./measure.js";
import { place, questionFor } from "./sample.js";

/** What an owner takes, in all tables together. */
export interface OwnerSizes {
  readonly rowsPerOwner: number;
  /** Tables, indexes and all. */
  readonly bytesPerOwner: number;
  readonly indexBytesPerOwner: number;
}

/** Prints what an owner takes by table. */
export async function sizesPerOwner(
  { pool, schema }: BenchDatabase,
  { owners, tables, rows }: Filled,
): Promise<OwnerSizes> {
  const { rows: sizes } = await pool.query<{ name: string; bytes: string; indexes: string }>(
    `select relname as name, pg_total_relation_size(oid) as bytes, pg_indexes_size(oid) as indexes
     from pg_class where relnamespace = $1::regnamespace and relname = any ($2) and relkind = 'r'
     order by pg_total_relation_size(oid) desc`,
    [schema, tables.map(({ name }) => name)],
  );
  const each = sizes.map(({ name, bytes, indexes }) => ({
    table: name,
    "rows an owner": (rows[name] as number) / owners,
    "bytes an owner": Math.round(Number(bytes) / owners),
    "of them indexes": Math.round(Number(indexes) / owners),
  }));
  printTable(`${owners.toLocaleString("en")} owners`, each);
  const sum = (of: Exclude<keyof (typeof each)[number], "table">) =>
    each.reduce((total, row) => total + row[of], 0);
  return {
    rowsPerOwner: sum("rows an owner"),
    bytesPerOwner: sum("bytes an owner"),
    indexBytesPerOwner: sum("of them indexes"),
  };
}

/** Recalls whose reads are counted. */
const recalls = 200;

/** What a recall reads, of an owner alone and among all others. */
export interface Reads {
  /** Entries of indexes that a recall read. */
  readonly indexEntriesPerRecall: { readonly before: number; readonly after: number };
}

/**
 * Counts what recalls read, functions' statements included, as the server counts it: which EXPLAIN does not show. Throws where
 * a table of the many owners was read from end to end.
 */
export async function readsOfRecalls(
  database: BenchDatabase,
  { alone, among }: Schemas,
  { tables }: Filled,
): Promise<Reads> {
  const names = tables.map(({ name }) => name);
  const before = await readsIn(database, alone.schema, names);
  const after = await readsIn(database, among.schema, names);
  const indexes = [...new Set([...before.entries.keys(), ...after.entries.keys()])].map((index) => ({
    "index, entries a recall": index,
    alone: (before.entries.get(index) ?? 0) / recalls,
    "among all": (after.entries.get(index) ?? 0) / recalls,
  }));
  printTable(
    "What a recall reads",
    indexes.sort((a, b) => b["among all"] - a["among all"]),
  );
  for (const [table, rows] of after.scanned) {
    // Setting up looks whether there is any row, once.
    if (rows < recalls) continue;
    throw new Error(`${rows / recalls} rows of ${table} a recall were read from end to end.`);
  }
  const total = (entries: ReadonlyMap<string, number>) =>
    [...entries.values()].reduce((sum, value) => sum + value, 0) / recalls;
  return {
    indexEntriesPerRecall: { before: total(before.entries), after: total(after.entries) },
  };
}

/** How many entries of each index, and rows of each table from end to end. */
interface Counted {
  readonly entries: ReadonlyMap<string, number>;
  readonly scanned: ReadonlyMap<string, number>;
}

async function readsIn(database: BenchDatabase, schema: string, tables: readonly string[]): Promise<Counted> {
  const embeddings = new HashingEmbeddings({ dimensions: 384 });
  const memory = await openBenchMemory({ database: database.source, schema, embeddings });
  const start = await counters(database.pool, schema, tables);
  for (let round = 0; round < recalls; round++) {
    await memory.recall({ ...place(round, 0), query: questionFor(round) });
  }
  // A backend tells what it counted when it ends.
  await memory.close();
  const end = await counters(database.pool, schema, tables);
  return { entries: growth(start.entries, end.entries), scanned: growth(start.scanned, end.scanned) };
}

function growth(start: ReadonlyMap<string, number>, end: ReadonlyMap<string, number>): Map<string, number> {
  const grown = [...end].map(([name, count]) => [name, count - (start.get(name) ?? 0)] as const);
  return new Map(grown.filter(([, count]) => count > 0));
}

/** What the server has counted since ever; what backends of before have still to tell is waited for. */
async function counters(pool: pg.Pool, schema: string, tables: readonly string[]): Promise<Counted> {
  await setTimeout(3_000);
  const entries = await pool.query<{ name: string; read: string }>(
    "select indexrelname as name, idx_tup_read as read from pg_stat_user_indexes where schemaname = $1 and relname = any ($2)",
    [schema, tables],
  );
  const scanned = await pool.query<{ name: string; read: string }>(
    "select relname as name, seq_tup_read as read from pg_stat_user_tables where schemaname = $1 and relname = any ($2)",
    [schema, tables],
  );
  const byName = (rows: readonly { name: string; read: string }[]) =>
    new Map(rows.map(({ name, read }) => [name, Number(read)]));
  return { entries: byName(entries.rows), scanned: byName(scanned.rows) };
}
