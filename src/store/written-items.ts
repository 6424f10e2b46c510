import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import { lexemeVector } from "../postgres/lexemes.js";
import { idDigest, ownerColumns, ownerIs, type ScopeColumns } from "../scope/scope-predicates.js";
import type { Put } from "./store-operation.js";

interface WrittenItem extends Omit<Put, "ifValue"> {
  readonly n: number;
  /** Prepared by `searchText`; null if no query finds it. */
  readonly terms: string | null;
  readonly vectors: readonly string[];
}

export interface WrittenBatch {
  readonly items: readonly WrittenItem[];
  readonly space: EmbeddingSpace | null;
}

/** `store_item.place` of a scope. */
export function itemPlace({ tenantId, userId, appId }: ScopeColumns): Sql {
  return sql`sha256(${idDigest(tenantId)} || ${idDigest(userId)} || ${idDigest(appId)})`;
}

/** `store_item.item` of a path and key. */
export function itemOf(path: Sql | string, key: Sql | string): Sql {
  return sql`sha256(${idDigest(path)} || ${idDigest(key)})`;
}

export function isKept(db: Connection, row: "i" | "k" | "x" = "i"): Sql {
  const expiresAt = raw(`${row}.expires_at`);
  return sql`(${expiresAt} is null or ${expiresAt} > ${db.now()})`;
}

/** CTE `written`: a row for each of `items`. `last` is true for the last version in the batch. */
export function writtenItems(db: Connection, { items, space }: WrittenBatch): Sql {
  const embeddings = space
    ? sql`case when cardinality(r.vectors) > 0 then r.vectors::${space.type}[] end`
    : sql`null`;
  return sql`
    written as materialized (
      select w.*, w.n = max(w.n) over (partition by w.item) as last
      from (
        select r.n, r.namespace, r.path, left(r.path, 200) as path_head, r.key, r.value, r."indexFields" as index_fields,
          ${lexemeVector(db, sql`r.terms`)} as words,
          ${db.now()} + r."ttlMinutes" * interval '1 minute' as expires_at, r."ttlMinutes" as ttl_minutes,
          ${itemOf(sql`r.path`, sql`r.key`)} as item, ${embeddings} as embeddings
        from json_to_recordset(${JSON.stringify(items)}::json) as r (
          n integer, namespace text[], path text, key text, value jsonb, "indexFields" text[], terms text,
          "ttlMinutes" float8, vectors text[]
        )
      ) w
    )`;
}

/**
 * Writes the last version of each item, in one order, so that concurrent batches rarely deadlock.
 */
export function keepWritten(
  db: Connection,
  scope: ScopeColumns,
  space: EmbeddingSpace | null,
): Sql {
  const { schema } = db;
  const { tenantId, userId, appId } = scope;
  return sql`
    removed as (
      delete from ${schema}.store_item i using written w
      where i.place = ${itemPlace(scope)} and i.item = w.item and w.last and w.value is null
    ),
    stored as (
      insert into ${schema}.store_item as i (
        tenant_id, user_id, app_id, namespace, path, key, value, index_fields, words, ttl_minutes, expires_at, created_at,
        updated_at
      )
      select ${tenantId}, ${userId}, ${appId}, w.namespace, w.path, w.key, w.value, w.index_fields, w.words, w.ttl_minutes,
        w.expires_at, ${db.now()}, ${db.now()}
      from written w where w.last and w.value is not null order by w.item
      on conflict (place, item) do update set
        value = excluded.value, index_fields = excluded.index_fields, words = excluded.words,
        revision = i.revision + 1, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
        created_at = case when i.expires_at <= excluded.updated_at then excluded.created_at else i.created_at end,
        updated_at = excluded.updated_at
      returning i.ref, i.item, i.revision
    )${tenantId + userId + appId === "" ? empty : ownerOfItems(db, scope)}${space ? storedVectors(db, scope, space) : empty}`;
}

/** Adds owners that have only items, so that users and apps list them. */
function ownerOfItems({ schema }: Connection, scope: ScopeColumns): Sql {
  const owner = ownerColumns(scope);
  return sql`,
    owned as (
      insert into ${schema}.owner (tenant_id, user_id, app_id)
      select ${owner.tenantId}, ${owner.userId}, ${owner.appId}
      where exists (select from stored) and not exists (select from ${schema}.owner o where ${ownerIs(owner)})
      on conflict do nothing
    )`;
}

function storedVectors(
  { schema }: Connection,
  { tenantId }: ScopeColumns,
  { ref }: EmbeddingSpace,
): Sql {
  return sql`,
    embedded as (
      insert into ${schema}.store_embedding as e (item_ref, space_ref, tenant_id, revision, embeddings)
      select s.ref, ${ref}, ${tenantId}, s.revision, w.embeddings
      from stored s join written w on w.item = s.item and w.last where w.embeddings is not null
      on conflict (item_ref, space_ref) do update set revision = excluded.revision, embeddings = excluded.embeddings
    )`;
}
