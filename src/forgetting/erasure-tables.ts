import sql, { join, raw, type Sql } from "sql-template-tag";
import { checkpointTableNames } from "../checkpoints/checkpoint-names.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "../scope/erasure-scope.js";

/** The rows that others depend on, as array expressions: a scope's, or those of one batch. */
export interface ErasureKeys {
  /** `memory.ref`, bigint[]. */
  readonly memories: Sql;
  /** Their `memory.id`, uuid[]. */
  readonly memoryIds: Sql;
  /** `thread.id`, bigint[]. */
  readonly threads: Sql;
  /** Ids of threads in LangGraph's checkpoints, text[]. */
  readonly checkpointThreads: Sql;
  /** `memory.id` of notes that apps made of the threads, uuid[]. */
  readonly noteIds: Sql;
  /** `store_item.ref`, bigint[]. */
  readonly items: Sql;
}

const noRefs = sql`'{}'::bigint[]`;
const noIds = sql`'{}'::uuid[]`;

export const noKeys: ErasureKeys = {
  memories: noRefs,
  memoryIds: noIds,
  threads: noRefs,
  noteIds: noIds,
  items: noRefs,
  checkpointThreads: sql`'{}'::text[]`,
};

/** A table and its rows to erase, called `x`. */
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

/** Records of memories; the change log stays without words, since each revision is a row. */
export const memoryRecordTables: readonly ErasureTable[] = [
  {
    table: "history",
    rows: ({ memoryIds }, { ownerRef }) => sql`x.owner_ref = ${ownerRef}::bigint and x.memory_id = any (${memoryIds})`,
  },
];

/** Memories after their dependents. */
export const memoryTables: readonly ErasureTable[] = [
  ...["memory_embedding", "memory_term", "memory_source"].map(ofMemory),
  {
    table: "relation",
    rows: ({ memories }) => sql`(x.from_ref = any (${memories}) or x.to_ref = any (${memories}))`,
  },
  { table: "memory", rows: ({ memories }) => sql`x.ref = any (${memories})` },
];

export const checkpointTables: readonly ErasureTable[] = checkpointTableNames.map(ofCheckpoints);

export const messageTables: readonly ErasureTable[] = [ofThread("message_term"), ofThread("message")];

export const threadTables: readonly ErasureTable[] = ["summary", "shown", "work"].map(ofThread);

/** These rows find the notes of a thread, and go with them or with the thread. */
export const noteSourceTables: readonly ErasureTable[] = [
  {
    table: "note_source",
    rows: ({ threads }, { thread, ownerRef }) =>
      thread
        ? sql`x.thread_ref = any (${threads})`
        : sql`(x.thread_ref = any (${threads}) or x.owner_ref = ${ownerRef}::bigint)`,
  },
];

/** The audit trail of notes that apps made of the threads. */
export const noteRecordTables: readonly ErasureTable[] = [
  {
    table: "history",
    rows: ({ noteIds }, { ownerRef }) =>
      sql`x.memory_id = any (${noteIds}) and x.owner_ref is distinct from ${ownerRef}::bigint`,
  },
];

export const storeTables: readonly ErasureTable[] = [
  { table: "store_embedding", rows: ({ items }) => sql`x.item_ref = any (${items})` },
  { table: "store_item", rows: ({ items }) => sql`x.ref = any (${items})` },
];

export const eventTables: readonly ErasureTable[] = [
  { table: "event", rows: (_, scope) => hasScope(scope) },
  { table: "usage", rows: (_, scope) => hasScope(scope) },
];

export const recordTables: readonly ErasureTable[] = [
  ...["history", "change_log", "consent_request"].map(ofOwner),
  // All of the owner's, where the scope is a part of it: prompts held words of every part.
  { table: "compared_pair", rows: (_, { ownerRef }) => sql`x.owner_ref = ${ownerRef}::bigint` },
  { table: "work", rows: (_, { ownerRef }) => sql`x.owner_ref = ${ownerRef}::bigint` },
  ...noteSourceTables,
  ...eventTables,
];

export type RowCounts = Record<string, number>;

/** In the order of `tables`, at most `limit` rows of each. One statement each. */
export async function eraseRows(
  tx: Connection,
  tables: readonly ErasureTable[],
  { keys, scope, limit }: { keys: ErasureKeys; scope: ErasureScope; limit: number },
): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const { table, rows } of tables) {
    const name = sql`${tx.schema}.${raw(table)}`;
    const [row] = await tx.query<{ erased: number }>(sql`
      with erased as (
        delete from ${name} d
        where d.ctid = any (array(select x.ctid from ${name} x where ${rows(keys, scope)} limit ${limit}))
        returning 1
      )
      select count(*)::int as erased from erased`);
    counts[table] = (counts[table] ?? 0) + (row?.erased ?? 0);
  }
  return counts;
}

export async function countRows(
  db: Connection,
  tables: readonly ErasureTable[],
  { keys, scope }: { keys: ErasureKeys; scope: ErasureScope },
): Promise<RowCounts> {
  const counts = tables.map(
    ({ table, rows }): Sql =>
      sql`select ${table}::text as name,
        (select count(*) from ${db.schema}.${raw(table)} x where ${rows(keys, scope)})::int as count`,
  );
  const found = await db.query<{ name: string; count: number }>(join(counts, " union all "));
  const rows: RowCounts = {};
  for (const { name, count } of found) rows[name] = (rows[name] ?? 0) + count;
  return rows;
}
