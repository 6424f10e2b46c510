import type pg from "pg";

/**
 * The tables and indexes of `schema` of which `work` reads more than `many` rows, with the number.
 * `pool` must have one session. The first run of `work` is not counted, because the planner reads
 * as well.
 */
export async function readOften(
  { pool, schema }: { readonly pool: pg.Pool; readonly schema: string },
  many: number,
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  await work();
  const before = await countsOf(pool, schema);
  await work();
  const after = await countsOf(pool, schema);
  const often = Object.keys(after)
    .map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const)
    .filter(([, rows]) => rows > many);
  return Object.fromEntries(often);
}

async function countsOf(pool: pg.Pool, schema: string): Promise<Record<string, number>> {
  await pool.query("select pg_stat_force_next_flush()");
  const { rows } = await pool.query(
    `select json_object_agg(name, rows) as counts from (
       select relname as name, seq_tup_read as rows from pg_stat_user_tables where schemaname = $1
       union all
       select indexrelname, idx_tup_read from pg_stat_user_indexes where schemaname = $1
     ) c`,
    [schema],
  );
  return rows[0].counts;
}
