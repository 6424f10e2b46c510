import type { BenchDatabase } from "../bench-database.js";
import type { Schemas } from "./measure.js";
import { type OwnedTable, ownedTables } from "./owned-tables.js";
import { place, writeOwner } from "./sample.js";

/**
 * Throws unless an owner that is written through the library's calls beside all the copies has the same rows as a copy of the
 * owner of whom the same was written: the same number in each table, found by the same references, the same but for numbers,
 * ids, names and times.
 */
export async function checkWritten(
  { pool }: BenchDatabase,
  { alone, among, memories }: Schemas,
): Promise<void> {
  const copied = place(0, 1).scope.userId;
  const written = "written beside the copies";
  await writeOwner(among.memory, written, memories, 0);
  const tables = await ownedTables(pool, alone.schema);
  for (const table of tables) {
    const { rows } = await pool.query<{ written: boolean; rows: string; line: string }>(
      rowsOfBoth(table, among.schema),
      [copied, written],
    );
    if (rows[0])
      throw new Error(
        `${table.name} is not copied as it is written: ${JSON.stringify(rows[0]).slice(0, 2_000)}`,
      );
  }
  await among.memory.forget({ userId: written });
}

/** The rows, as lines, that not both of two users have equally often. */
function rowsOfBoth({ name, columns }: OwnedTable, schema: string): string {
  const compared = columns.filter(({ own }) => !own).map(({ name: column }) => `s."${column}"`);
  const line = compared.length > 0 ? `row(${compared.join(", ")})::text` : "''";
  return `select line, count(*) as rows, bool_or(is_written) as written from (
    select ${line} as line, o.user_id = $2 as is_written
    from "${schema}".owner o cross join lateral (select * from "${schema}"."${name}" t where ${belongs(name, columns, schema)}) s
    where o.user_id in ($1, $2)
  ) each group by line having count(*) filter (where is_written) <> count(*) filter (where not is_written)
  order by line limit 1`;
}

/** Which rows of a table are of the owner `o`, by the column that says so. */
function belongs(name: string, columns: OwnedTable["columns"], schema: string): string {
  const has = (column: string) => columns.some((one) => one.name === column);
  if (name === "owner") return "t.id = o.id";
  const checks = [
    has("owner_ref") && "t.owner_ref = o.id",
    has("user_id") && "t.user_id = o.user_id",
    has("thread_ref") &&
      name !== "memory" &&
      `t.thread_ref in (select h.id from "${schema}".thread h where h.owner_ref = o.id)`,
    ...["memory_ref", "from_ref", "to_ref"].map(
      (column) =>
        has(column) && `t.${column} in (select m.ref from "${schema}".memory m where m.owner_ref = o.id)`,
    ),
    has("memory_id") &&
      `(t.memory_id is null or t.memory_id in (select m.id from "${schema}".memory m where m.owner_ref = o.id))`,
  ].filter((check) => check !== false);
  return checks.join(" and ");
}
