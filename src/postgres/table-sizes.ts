import sql from "sql-template-tag";
import type { Database } from "./database.js";

/** `rows` as PostgreSQL estimates them (null before it does); `bytes` with those of the indexes. */
export interface TableSize {
  readonly table: string;
  readonly rows: number | null;
  readonly bytes: number;
}

export async function tableSizes(db: Database): Promise<TableSize[]> {
  return db.query<TableSize & Record<string, unknown>>(sql`
    select c.relname as "table", nullif(c.reltuples, -1)::float8 as rows,
      pg_total_relation_size(c.oid)::float8 as bytes
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${db.schemaName} and c.relkind = 'r'
    order by bytes desc, c.relname`);
}
