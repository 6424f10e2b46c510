import pg from "pg";

export interface FreshSchema {
  readonly schema: string;
  /** A hash of tables, columns, indexes, functions, triggers and policies. */
  readonly structure: string;
  /** The rows of non-empty tables, as text. */
  readonly rows: ReadonlyMap<string, string>;
}

export async function readFresh(pool: pg.Pool, schema: string): Promise<FreshSchema> {
  const rows = new Map<string, string>();
  for (const table of await writtenTables(pool, schema))
    rows.set(table, await rowsOf(pool, schema, table));
  return { schema, structure: await structureOf(pool, schema), rows };
}

/**
 * Empties a used schema, in a tenth of the time of a set-up. False if the schema differs from a
 * fresh one.
 */
export async function emptySchema(
  pool: pg.Pool,
  { schema, structure, rows }: FreshSchema,
): Promise<boolean> {
  const written = await writtenTables(pool, schema);
  const emptied = written.filter((table) => !rows.has(table)).map((table) => nameOf(schema, table));
  if (emptied.length > 0)
    await pool.query(`truncate ${emptied.join(", ")} restart identity cascade`);
  // Statistics of the deleted rows.
  await pool.query(
    `delete from pg_statistic s using pg_class c
     where c.oid = s.starelid and c.relnamespace = $1::regnamespace`,
    [pg.escapeIdentifier(schema)],
  );
  if ((await structureOf(pool, schema)) !== structure) return false;
  for (const [table, before] of rows)
    if ((await rowsOf(pool, schema, table)) !== before) return false;
  return true;
}

const nameOf = (schema: string, table: string) =>
  `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`;

async function writtenTables(pool: pg.Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = $1::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 order by 1`,
    [pg.escapeIdentifier(schema)],
  );
  return rows.map(({ name }) => name);
}

async function rowsOf(pool: pg.Pool, schema: string, table: string): Promise<string> {
  const { rows } = await pool.query<{ rows: string }>(
    `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as rows from ${nameOf(schema, table)} t`,
  );
  return rows[0]?.rows ?? "";
}

/** A changed row of the catalog has another `xmin`. */
async function structureOf(pool: pg.Pool, schema: string): Promise<string> {
  const { rows } = await pool.query<{ structure: string }>(
    `with relation as (select * from pg_class where relnamespace = $1::regnamespace),
     part as (
       select 'pg_class' as of, oid::text as id,
         concat_ws(' ', relname, relowner, relacl, reloptions, relrowsecurity, relforcerowsecurity, relkind) as state
       from relation where relkind <> 't'
       union all select 'pg_attribute', concat_ws(' ', a.attrelid, a.attnum), a.xmin::text
         from pg_attribute a join relation r on r.oid = a.attrelid where r.relkind in ('r', 'v')
       union all select 'pg_constraint', c.oid::text, c.xmin::text from pg_constraint c where c.connamespace = $1::regnamespace
       union all select 'pg_index', i.indexrelid::text, concat_ws(' ', i.indisvalid, i.indisunique)
         from pg_index i join relation r on r.oid = i.indrelid
       union all select 'pg_proc', p.oid::text, p.xmin::text from pg_proc p where p.pronamespace = $1::regnamespace
       union all select 'pg_trigger', t.oid::text, t.xmin::text from pg_trigger t join relation r on r.oid = t.tgrelid
       union all select 'pg_policy', p.oid::text, p.xmin::text from pg_policy p join relation r on r.oid = p.polrelid
       union all select 'pg_namespace', n.oid::text, concat_ws(' ', n.xmin, n.nspacl) from pg_namespace n where n.oid = $1::regnamespace
     )
     select md5(string_agg(concat_ws(' ', of, id, state), E'\\n' order by of, id)) as structure from part`,
    [pg.escapeIdentifier(schema)],
  );
  return rows[0]?.structure ?? "";
}
