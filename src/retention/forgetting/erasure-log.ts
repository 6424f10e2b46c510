import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Connection } from "../../postgres/connection.js";
import type { ErasureScope } from "../../scope/erasure-scope.js";
import { idHmacOf } from "../../scope/id-hmac.rule.js";
import { isId } from "../../scope/scope-predicates.js";
import type { RowCounts } from "./erasure-tables.js";
import { type ErasureKind, type ErasureRecord, recordHash } from "./receipt.rule.js";

/** Without `after` and `endedAt` it was interrupted, or is running. */
export type ErasureRow = Omit<ErasureRecord, "tenantId" | "after" | "beganAt" | "endedAt"> & {
  readonly tenantId: string;
  readonly ownerWas: string | null;
  readonly after: RowCounts | null;
  readonly beganAt: Date;
  readonly endedAt: Date | null;
  readonly sha256: string | null;
};

export const erasureColumns = sql`
  e.id::text as id, e.tenant_id as "tenantId", e.kind, e.actor, e.owner_was::text as "ownerWas", e.id_hmac as "idHmac",
  e.rows_before as before, e.rows_after as after, e.began_at as "beganAt", e.ended_at as "endedAt", e.previous, e.sha256`;

/** The finished record of a row. */
export function recordOf({ ownerWas: _, sha256: __, ...row }: ErasureRow): ErasureRecord | null {
  const { tenantId, after, beganAt, endedAt, previous } = row;
  if (after === null || endedAt === null) return null;
  const times = { beganAt: beganAt.toISOString(), endedAt: endedAt.toISOString() };
  return { ...row, ...times, tenantId: tenantId || null, after, previous: previous || null };
}

/** Who erases, and the secret for the HMAC of the erased id. */
export interface ErasedBy {
  readonly actor: string;
  readonly idKey: string | undefined;
}

/**
 * The id of its row: of an interrupted run's, or a new one; null when there is nothing to erase.
 * @param before rows by table, that would go
 */
export async function beginErasure(
  db: Connection,
  erasure: ErasureScope,
  { actor, idKey }: ErasedBy,
  before: RowCounts,
): Promise<string | null> {
  const { tenantId, userId, appId, ownerRef } = erasure;
  const kind: ErasureKind = userId === "" ? "app" : appId === "" ? "user" : "user_in_app";
  const idHmac = idHmacOf(idKey, erasure);
  const [open] = await db.query<{ id: string }>(sql`
    select e.id::text as id from ${db.schema}.erasure e
    where ${isId(sql`e.tenant_id`, tenantId)} and e.ended_at is null and e.kind = ${kind}
      -- A user's parts have one owner.
      and (e.id_hmac = ${idHmac} or e.owner_was = ${ownerRef}::bigint and e.kind <> 'user_in_app')
    order by e.began_at limit 1`);
  if (open) return open.id;
  if (Object.keys(before).length === 0) return null;
  // An actor's name must not keep the erased id.
  const isErased = [userId, appId].some((id) => id !== "" && actor.includes(id));
  const id = randomUUID();
  await db.query(sql`
    insert into ${db.schema}.erasure (id, tenant_id, kind, actor, owner_was, id_hmac, rows_before, began_at)
    values (${id}::uuid, ${tenantId}, ${kind}, ${isErased ? "the erased" : actor}, ${ownerRef}::bigint, ${idHmac},
      ${JSON.stringify(before)}::jsonb, ${db.now()})`);
  return id;
}

/**
 * Finishes the record, at the end of its tenant's chain. Two that end at once wait for each other,
 * since both would follow the same record, which the index `erasure_chain` refuses.
 */
export async function endErasure(tx: Connection, id: string, after: RowCounts): Promise<void> {
  const { schema } = tx;
  await tx.query(sql`
    select pg_advisory_xact_lock(hashtextextended('erasure ' || e.tenant_id, 0)) from ${schema}.erasure e
    where e.id = ${id}::uuid`);
  const [last] = await tx.query<{ sha256: string }>(sql`
    select e.sha256 from ${schema}.erasure d join ${schema}.erasure e on e.tenant_id = d.tenant_id
    where d.id = ${id}::uuid and e.sha256 is not null
      and not exists (select from ${schema}.erasure n where n.tenant_id = e.tenant_id and n.previous = e.sha256)
    limit 1`);
  const [row] = await tx.query<ErasureRow>(sql`
    update ${schema}.erasure e
    set rows_after = ${JSON.stringify(after)}::jsonb, ended_at = ${tx.now()}, previous = ${last?.sha256 ?? ""}
    where e.id = ${id}::uuid and e.ended_at is null
    returning ${erasureColumns}`);
  if (!row) return;
  const record = recordOf(row);
  if (!record) {
    // Without a digest no record of the tenant could follow it.
    const why = "The driver cannot read the times of this pool. Set the role's DateStyle to ISO.";
    throw new MemoryError("DATABASE_ERROR", why);
  }
  await tx.query(sql`
    update ${schema}.erasure set sha256 = ${recordHash(record)} where id = ${id}::uuid`);
}
