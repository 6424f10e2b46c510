import type { BenchDatabase } from "../bench-database.js";
import { vacuumSchema } from "../bench-database.js";
import type { Schemas } from "./measure.js";
import { type OwnedTable, ownedTables } from "./owned-tables.js";
import { sampleSize } from "./sample.js";

/** How far a schema was filled. */
export interface Filled {
  readonly owners: number;
  /** Of each owner of the sample; the first has the sample's own names. */
  readonly copies: number;
  readonly seconds: number;
  readonly tables: readonly OwnedTable[];
  /** Rows of all owners by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Copies of the sample that one transaction makes. */
const batch = 100;

/**
 * Copies the sample into the other schema until that has `owners` owners (rounded down to whole copies), in every table that
 * has rows of an owner: numbers are counted on, ids and names made anew, everything else is the same. Throws unless each
 * table has as many times the sample's rows as there are copies.
 */
export async function fillOwners(
  { pool }: BenchDatabase,
  { alone, among }: Schemas,
  owners: number,
): Promise<Filled> {
  const copies = Math.floor(owners / sampleSize);
  const tables = await ownedTables(pool, alone.schema);
  const startedAt = performance.now();
  const client = await pool.connect();
  try {
    // Triggers and foreign keys would do again what has been done for the sample.
    await client.query("set session_replication_role = replica; set synchronous_commit = off");
    for (let first = 0; first < copies; first += batch) {
      await client.query("begin");
      for (const table of tables) {
        await client.query(copyStatement(table, alone.schema, among.schema), [
          first,
          Math.min(copies, first + batch) - 1,
        ]);
      }
      await client.query("commit");
      const done = Math.min(copies, first + batch);
      if (done % 1_000 === 0) console.log(`${(done * sampleSize).toLocaleString("en")} owners`);
    }
    for (const { name, identity } of tables) {
      if (!identity) continue;
      await client.query(
        `select setval(pg_get_serial_sequence('"${among.schema}"."${name}"', '${identity}'), coalesce(max("${identity}"), 0) + 1)
         from "${among.schema}"."${name}"`,
      );
    }
    await client.query("reset session_replication_role; reset synchronous_commit");
  } finally {
    client.release();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await vacuumSchema(pool, among.schema);
  const rows: Record<string, number> = {};
  for (const { name, sampleRows } of tables) {
    const counted = await pool.query<{ count: string }>(`select count(*) from "${among.schema}"."${name}"`);
    rows[name] = Number(counted.rows[0]?.count);
    if (rows[name] !== sampleRows * copies)
      throw new Error(`${name} has ${rows[name]} rows, not ${sampleRows * copies}.`);
  }
  return { owners: copies * sampleSize, copies, seconds, tables, rows };
}

function copyStatement({ name, columns }: OwnedTable, from: string, to: string): string {
  return `insert into "${to}"."${name}" (${columns.map((column) => `"${column.name}"`).join(", ")})
    overriding system value
    select ${columns.map(({ copied }) => copied).join(", ")}
    from generate_series($1::bigint, $2::bigint) n cross join "${from}"."${name}" s`;
}
