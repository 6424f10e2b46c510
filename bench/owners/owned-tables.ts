import type pg from "pg";

/** A table that has rows of owners, and how a row of the sample becomes one of copy `n`. */
export interface OwnedTable {
  readonly name: string;
  readonly sampleRows: number;
  /** The column that numbers its rows. */
  readonly identity: string | null;
  readonly columns: readonly OwnedColumn[];
}

interface OwnedColumn {
  readonly name: string;
  /** Differs between two owners of whom the same was written: numbers, ids, names and times. */
  readonly own: boolean;
  /** The SQL of its value in copy `n` of the row `s`. */
  readonly copied: string;
}

/** Which table a column's numbers are of. */
const numbersOf: Readonly<Record<string, string>> = {
  owner_ref: "owner",
  thread_ref: "thread",
  said_in: "thread",
  memory_ref: "memory",
  from_ref: "memory",
  to_ref: "memory",
  base_id: "summary",
  summary_id: "summary",
};

/** Columns of names that are unique to their owner. */
const names = new Set(["user_id", "thread_id"]);

/** Beside numbers, ids, names and times: what else two writings of the same differ in. */
const chance = new Set(["ticked_by", "generation_time_ms", "accessed_on"]);

interface Found {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly identity: boolean;
  readonly generated: boolean;
}

/** The tables of `schema` that have rows of owners. Throws where a column's numbers are of nobody knows which table. */
export async function ownedTables(pool: pg.Pool, schema: string): Promise<OwnedTable[]> {
  const { rows: found } = await pool.query<Found>(
    `select c.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type,
       a.attidentity <> '' as identity, a.attgenerated <> '' as generated
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
     order by c.relname, a.attnum`,
    [schema],
  );
  const strides = new Map<string, number>();
  for (const { table, column, identity } of found) {
    if (!identity) continue;
    const { rows } = await pool.query<{ most: string }>(
      `select coalesce(max("${column}"), 0) as most from "${schema}"."${table}"`,
    );
    strides.set(table, Number(rows[0]?.most));
  }
  const tables: OwnedTable[] = [];
  for (const name of new Set(found.map(({ table }) => table))) {
    const columns = found.filter(({ table }) => table === name);
    const belongs =
      columns.some(({ column }) => names.has(column) || numbersOf[column] !== undefined) || name === "owner";
    const counted = await pool.query<{ count: string }>(`select count(*) from "${schema}"."${name}"`);
    const sampleRows = Number(counted.rows[0]?.count);
    if (!belongs || sampleRows === 0) continue;
    tables.push({
      ...{ name, sampleRows, identity: columns.find(({ identity }) => identity)?.column ?? null },
      columns: columns.filter(({ generated }) => !generated).map((column) => copiedColumn(column, strides)),
    });
  }
  return tables;
}

function copiedColumn(
  { table, column, type, identity }: Found,
  strides: ReadonlyMap<string, number>,
): OwnedColumn {
  const source = `s."${column}"`;
  const counted = identity ? table : numbersOf[column];
  if (counted !== undefined) {
    const stride = strides.get(counted);
    if (stride === undefined)
      throw new Error(`The numbers of ${table}.${column} are of ${counted}, which has none.`);
    return { name: column, own: true, copied: `${source} + n * ${stride}` };
  }
  if (/_(ref|refs)$/.test(column) && column !== "space_ref")
    throw new Error(`Say which table the numbers of ${table}.${column} are of.`);
  if (type === "uuid") return { name: column, own: true, copied: `md5(${source}::text || n)::uuid` };
  if (type === "uuid[]")
    return {
      name: column,
      own: true,
      copied: `array(select md5(id::text || n)::uuid from unnest(${source}) id)`,
    };
  if (names.has(column)) {
    const copied = `case when ${source} = '' or n = 0 then ${source} else ${source} || '#' || n end`;
    return { name: column, own: true, copied };
  }
  return { name: column, own: type.startsWith("timestamp") || chance.has(column), copied: source };
}
