import sql, { join, raw, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ErasureScope } from "./erasure-scope.js";
import type { ErasureKeys, ErasureTable } from "./erasure-tables.js";

/** How many rows of each table. */
export type RowCounts = Record<string, number>;

/** Deletes at most `limit` rows of each of `tables`, in their order. One statement for each. */
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
    counts[table] = row?.erased ?? 0;
  }
  return counts;
}

/** Counts the rows of `tables` that belong to `scope`, in one statement. */
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
  return Object.fromEntries(found.map(({ name, count }) => [name, count]));
}
