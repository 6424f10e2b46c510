import sql, { empty, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Json } from "../text/plain-json.js";

/** An item of LangGraph's `PostgresStore`. */
export type ForeignItem = {
  /** Its labels, joined by colons. */
  readonly path: string;
  readonly key: string;
  readonly value: Json;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string | null;
  readonly ttlMinutes: number | null;
  /** Its vectors, where they are asked for. */
  readonly vectors: number[][];
};

/** How many items there are that have not expired. @throws MemoryError `NOT_FOUND` */
export async function countForeign(source: Connection, tables: Sql, schema: string): Promise<number> {
  if (!(await hasTable(source, tables, "store"))) {
    throw new MemoryError(
      "NOT_FOUND",
      `Schema "${schema}" has no table "store", so there is no store of LangGraph's: name the schema that PostgresStore was given.`,
    );
  }
  const [row] = await source.query<{ count: number }>(sql`
    select count(*)::int as count from ${tables}.store s where ${kept}`);
  return row?.count ?? 0;
}

/** Whether the store was made with vectors. */
export function hasForeignVectors(source: Connection, tables: Sql): Promise<boolean> {
  return hasTable(source, tables, "store_vectors");
}

/** Up to `limit` items after the one named, by their names. */
export async function findForeign(
  source: Connection,
  of: {
    readonly tables: Sql;
    readonly copies: boolean;
    readonly limit: number;
    readonly after: Pick<ForeignItem, "path" | "key"> | null;
  },
): Promise<ForeignItem[]> {
  const { tables, copies, limit, after } = of;
  const vectors = copies
    ? sql`coalesce((
        select json_agg(v.embedding::text::json order by v.field_path) from ${tables}.store_vectors v
        where v.namespace_path = s.namespace_path and v.key = s.key
      ), '[]')`
    : sql`'[]'::json`;
  return source.query<ForeignItem>(sql`
    select s.namespace_path as path, s.key, s.value, ${vectors} as vectors,
      to_json(s.created_at) as "createdAt", to_json(s.updated_at) as "updatedAt", to_json(s.expires_at) as "expiresAt",
      nullif(greatest(0, extract(epoch from s.expires_at - s.updated_at) / 60), 0)::float8 as "ttlMinutes"
    from ${tables}.store s
    where ${kept} ${after ? sql`and (s.namespace_path, s.key) > (${after.path}, ${after.key})` : empty}
    order by s.namespace_path, s.key limit ${limit}`);
}

const kept = sql`(s.expires_at is null or s.expires_at > now())`;

async function hasTable(source: Connection, tables: Sql, name: string): Promise<boolean> {
  const [row] = await source.query<{ found: boolean }>(
    sql`select to_regclass(${`${tables.text}.${name}`}) is not null as found`,
  );
  return row?.found ?? false;
}
