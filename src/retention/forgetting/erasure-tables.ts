import sql, { join, raw, type Sql } from "sql-template-tag";
import { checkpointTableNames, existingTables } from "../../checkpoints/checkpoint-names.js";
import type { Connection } from "../../postgres/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "../../scope/erasure-scope.js";

/** A table, and the condition on its rows `x` to count or to erase. */
interface ErasureTable {
  readonly table: string;
  readonly rows: Sql;
}

export const inTables = (tables: readonly string[], rows: Sql): ErasureTable[] =>
  tables.map((table) => ({ table, rows }));

/** Memories after their dependents. @param refs `memory.ref`, bigint[] */
export const memoryTables = (refs: Sql): ErasureTable[] => [
  ...inTables(
    ["memory_embedding", "memory_term", "memory_source"],
    sql`x.memory_ref = any (${refs})`,
  ),
  { table: "relation", rows: sql`(x.from_ref = any (${refs}) or x.to_ref = any (${refs}))` },
  { table: "memory", rows: sql`x.ref = any (${refs})` },
];

/**
 * Records of memories. The change log stays without text, since each revision needs its row.
 * @param ids `memory.id`, uuid[]
 */
export const memoryRecordTables = (ownerRef: string | null, ids: Sql): ErasureTable[] => [
  { table: "history", rows: sql`x.owner_ref = ${ownerRef}::bigint and x.memory_id = any (${ids})` },
  // Runs of consolidation name them by id.
  {
    table: "consolidation",
    rows: sql`x.owner_ref = ${ownerRef}::bigint and x.memory_ids && (${ids})`,
  },
];

export const checkpointTables = (threadIds: readonly string[]): ErasureTable[] =>
  inTables(checkpointTableNames, sql`x.thread_id = any (${threadIds}::text[])`);

/** Besides messages, whose deletion is counted. */
export const threadTables = ["summary", "shown", "work"];

/** @param threads `thread.id`, bigint[] */
export const ofThreads = (tables: readonly string[], threads: Sql): ErasureTable[] =>
  inTables(tables, sql`x.thread_ref = any (${threads})`);

/** Links from threads to their notes, deleted with either. */
export const noteSourceTables = (threads: Sql, ownerRef: string | null): ErasureTable[] =>
  inTables(
    ["note_source"],
    sql`(x.thread_ref = any (${threads}) or x.owner_ref = ${ownerRef}::bigint)`,
  );

/** Items of LangGraph's store. @param refs `store_item.ref`, bigint[] */
export const itemTables = (refs: Sql): ErasureTable[] => [
  { table: "store_embedding", rows: sql`x.item_ref = any (${refs})` },
  { table: "store_item", rows: sql`x.ref = any (${refs})` },
];

/** What remains of the scope, or of its thread, besides the rows above. */
export function recordTables(scope: ErasureScope): ErasureTable[] {
  const events = inTables(["event", "usage"], hasScope(scope));
  if (scope.thread) return events;
  return [
    ...inTables(["history", "change_log", "consent_request"], hasOwner(scope)),
    // All of the owner's rows, even if the scope is a part: their prompts quoted every part.
    ...inTables(
      ["compared_pair", "consolidation", "work"],
      sql`x.owner_ref = ${scope.ownerRef}::bigint`,
    ),
    ...events,
  ];
}

export type RowCounts = Record<string, number>;

/** Only tables with rows. */
export function addCounts(counts: RowCounts, more: RowCounts): void {
  for (const [table, rows] of Object.entries(more))
    if (rows > 0) counts[table] = (counts[table] ?? 0) + rows;
}

/** For an event, as "memory=2 thread=1". */
export const countsInWords = (counts: RowCounts): string =>
  Object.entries(counts)
    .map(([table, count]) => `${table}=${count}`)
    .join(" ");

export const totalOf = (counts: RowCounts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Deletes at most `limit` rows of each table, in order, one statement each. @default all */
export async function eraseRows(
  tx: Connection,
  tables: readonly ErasureTable[],
  limit: number | null = null,
): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const { table, rows } of await existingTables(tx, tables)) {
    const name = sql`${tx.schema}.${raw(table)}`;
    const [row] = await tx.query<{ erased: number }>(sql`
      with erased as (
        delete from ${name} d
        where d.ctid = any (array(select x.ctid from ${name} x where ${rows} limit ${limit}))
        returning 1
      )
      select count(*)::int as erased from erased`);
    addCounts(counts, { [table]: row?.erased ?? 0 });
  }
  return counts;
}

export async function countRows(
  db: Connection,
  tables: readonly ErasureTable[],
): Promise<RowCounts> {
  const counts = (await existingTables(db, tables)).map(
    ({ table, rows }) =>
      sql`select ${table}::text as name,
        (select count(*) from ${db.schema}.${raw(table)} x where ${rows})::int as count`,
  );
  const total: RowCounts = {};
  for (const { name, count } of await db.query<{ name: string; count: number }>(
    join(counts, " union all "),
  ))
    addCounts(total, { [name]: count });
  return total;
}
