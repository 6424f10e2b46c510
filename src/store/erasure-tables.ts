import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "./erasure-scope.js";

/** The rows that others hang on, as expressions of arrays: a scope's, or those of one batch. */
export interface ErasureKeys {
  /** `memory.ref`, bigint[]. */
  readonly memories: Sql;
  /** Their `memory.id`, uuid[]. */
  readonly memoryIds: Sql;
  /** `thread.id`, bigint[]. */
  readonly threads: Sql;
  /** Ids of threads in LangGraph's checkpoints, text[]. */
  readonly checkpointThreads: Sql;
}

/** A table and which of its rows, called `x`, are erased. */
export interface ErasureTable {
  readonly table: string;
  readonly rows: (keys: ErasureKeys, scope: ErasureScope) => Sql;
}

const ofMemory = (table: string): ErasureTable => ({
  table,
  rows: ({ memories }) => sql`x.memory_ref = any (${memories})`,
});
const ofThread = (table: string): ErasureTable => ({
  table,
  rows: ({ threads }) => sql`x.thread_ref = any (${threads})`,
});
const ofCheckpoints = (table: string): ErasureTable => ({
  table,
  rows: ({ checkpointThreads }) => sql`x.thread_id = any (${checkpointThreads})`,
});
const ofOwner = (table: string): ErasureTable => ({ table, rows: (_, scope) => hasOwner(scope) });

/** What was written down of memories; the news of them stays without its words, since each revision is one. */
export const memoryRecordTables: readonly ErasureTable[] = [
  {
    table: "history",
    rows: ({ memoryIds }, { ownerRef }) =>
      sql`x.owner_ref = ${ownerRef}::bigint and x.memory_id = any (${memoryIds})`,
  },
];

/** What hangs on memories, and then they themselves. */
export const memoryTables: readonly ErasureTable[] = [
  ofMemory("memory_embedding"),
  ofMemory("memory_term"),
  {
    table: "relation",
    rows: ({ memories }) => sql`(x.from_ref = any (${memories}) or x.to_ref = any (${memories}))`,
  },
  { table: "memory", rows: ({ memories }) => sql`x.ref = any (${memories})` },
];

/** LangGraph's: a checkpoint before its blobs, so that a reader never finds one that lacks some. */
export const checkpointTables: readonly ErasureTable[] = [
  ofCheckpoints("checkpoints"),
  ofCheckpoints("checkpoint_writes"),
  ofCheckpoints("checkpoint_blobs"),
];

/** What was said. */
export const messageTables: readonly ErasureTable[] = [ofThread("message_term"), ofThread("message")];

/** What was made of it. */
export const threadTables: readonly ErasureTable[] = [
  ofThread("summary"),
  ofThread("thread_task"),
  ofThread("dead_letter"),
];

/** What is counted of the scope. */
export const eventTables: readonly ErasureTable[] = [{ table: "event", rows: (_, scope) => hasScope(scope) }];

/** What is kept about the scope's memories, and about the scope itself. */
export const recordTables: readonly ErasureTable[] = [
  ofOwner("history"),
  ofOwner("change_log"),
  ofOwner("consent_request"),
  ...eventTables,
];

/** Which of `tables` this schema has: vectors' and LangGraph's are optional. */
export async function existingTables(
  db: Connection,
  tables: readonly ErasureTable[],
): Promise<ErasureTable[]> {
  const names = tables.map(({ table }) => table);
  const rows = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_catalog.pg_class c
    where c.relnamespace = ${db.schema.text}::regnamespace and c.relname = any (${names})`);
  const found = new Set(rows.map(({ name }) => name));
  return tables.filter(({ table }) => found.has(table));
}
