import sql, { empty } from "sql-template-tag";
import type { Embedded } from "../models/embedder.js";
import { halfvecs } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";
import type { Json } from "../text/plain-json.js";
import { itemOf, placeOf } from "./written-items.js";

/** An item that comes with its times. */
export interface TakenItem {
  readonly namespace: readonly string[];
  readonly path: string;
  readonly key: string;
  readonly value: Json;
  readonly indexFields: readonly string[] | null;
  readonly terms: string | null;
  readonly ttlMinutes: number | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Which of `items`, by their places, have names that are taken in the scope, also by what has expired. */
export async function findTaken(
  db: Connection,
  scope: ScopeColumns,
  items: readonly Pick<TakenItem, "path" | "key">[],
): Promise<Set<number>> {
  const names = items.map(({ path, key }, n) => ({ n, path, key }));
  const rows = await db.query<{ n: number }>(sql`
    select r.n from json_to_recordset(${JSON.stringify(names)}::json) as r (n integer, path text, key text)
    where exists (
      select from ${db.schema}.store_item i
      where i.place = ${placeOf(scope)} and i.item = ${itemOf(sql`r.path`, sql`r.key`)}
    )`);
  return new Set(rows.map(({ n }) => n));
}

/**
 * Adds items whose names are not taken, with their words and vectors, and returns how many. One statement.
 *
 * @param input.counts how many of the vectors belong to each item, in their order.
 */
export async function insertTaken(
  db: Connection,
  scope: ScopeColumns,
  input: {
    readonly items: readonly TakenItem[];
    readonly embedded: Embedded | null;
    readonly counts: readonly number[];
  },
): Promise<number> {
  const { schema, language } = db;
  const { tenantId, userId, appId } = scope;
  const { embedded, counts } = input;
  let from = 1;
  const rows = input.items.map((item, n) => {
    const vectorsFrom = from;
    from += counts[n] ?? 0;
    return { ...item, vectors: undefined, vectorsFrom, vectorsTo: from - 1 };
  });
  const vectors = embedded
    ? sql`,
    embedded as (
      insert into ${schema}.store_embedding (item_ref, space_ref, tenant_id, revision, embeddings)
      select a.ref, ${embedded.space.ref}, ${tenantId}, a.revision, v.vectors[i."vectorsFrom":i."vectorsTo"]
      from added a join input i on ${itemOf(sql`i.path`, sql`i.key`)} = a.item
      cross join (select ${halfvecs(embedded.space, embedded.vectors)} as vectors) v
      where i."vectorsTo" >= i."vectorsFrom"
    )`
    : empty;
  const [row] = await db.query<{ added: number }>(sql`
    with input as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as i (
        namespace text[], path text, key text, value jsonb, "indexFields" text[], terms text, "ttlMinutes" float8,
        "expiresAt" timestamptz, "createdAt" timestamptz, "updatedAt" timestamptz, "vectorsFrom" integer,
        "vectorsTo" integer
      )
    ),
    added as (
      insert into ${schema}.store_item (
        tenant_id, user_id, app_id, namespace, path, key, value, index_fields, words, ttl_minutes, expires_at, created_at,
        updated_at
      )
      select ${tenantId}, ${userId}, ${appId}, namespace, path, key, value, "indexFields",
        to_tsvector(${language}::regconfig, terms), "ttlMinutes", "expiresAt", "createdAt", "updatedAt"
      from input where value is not null
      on conflict (place, item) do nothing
      returning ref, item, revision
    )${vectors}
    select count(*)::int as added from added`);
  return row?.added ?? 0;
}
