import { randomUUID } from "node:crypto";
import type { TestDatabase } from "./test-database.js";

/** A word that is nowhere else. */
export const word = () => `sentinel${randomUUID().replaceAll("-", "")}`;

/** Tables without data of scopes: migrations, names of embedding models. */
const impersonal = /^(meta|checkpoint_migrations|embedding_space)$/;

export async function personalTables({ pool, schema }: Pick<TestDatabase, "pool" | "schema">) {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = $1 and table_type = 'BASE TABLE' order by 1`,
    [schema],
  );
  return rows.map(({ name }) => name).filter((name) => !impersonal.test(name));
}

/**
 * The number of rows with `needle` in any column, as text or as bytes, of each table that has such
 * rows.
 */
export async function findEverywhere(db: Pick<TestDatabase, "pool" | "schema">, needle: string) {
  const found: Record<string, number> = {};
  const hex = Buffer.from(needle).toString("hex");
  for (const table of await personalTables(db)) {
    const { rows } = await db.pool.query<{ count: number }>(
      `select count(*)::int as count from "${db.schema}"."${table}" x
       where strpos(x::text, $1) > 0 or strpos(x::text, $2) > 0 or strpos(lower(x::text), lower($1)) > 0`,
      [needle, hex],
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0) found[table] = count;
  }
  return found;
}

export async function countEverything(db: Pick<TestDatabase, "pool" | "schema">) {
  const counts: Record<string, number> = {};
  for (const table of await personalTables(db)) {
    const { rows } = await db.pool.query(
      `select count(*)::int as count from "${db.schema}"."${table}"`,
    );
    counts[table] = rows[0].count;
  }
  return counts;
}
