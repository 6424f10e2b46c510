import sql, { join, raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { nobody, type OwnerRef, type Scope } from "./scope.js";

export interface ScopeColumns {
  readonly tenantId: string;
  readonly userId: string;
  readonly appId: string;
}

export const scopeColumns = (scope: Scope): ScopeColumns => ({
  tenantId: scope.tenantId ?? "",
  userId: scope.userId ?? "",
  appId: scope.appId ?? "",
});

/** The owner of the scope's data: its user, in any app, or else its app. */
export function ownerColumns(scope: Scope): ScopeColumns {
  const columns = scopeColumns(scope);
  return { ...columns, appId: columns.userId === "" ? columns.appId : "" };
}

export type ScopeRow = {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly app_id: string;
};

export const ofTenant = (column: Sql, tenantId: string | undefined): Sql =>
  tenantId === undefined ? sql`true` : sql`${column} = ${tenantId}`;

export function scopeOf(columns: ScopeRow): Scope {
  return {
    ...(columns.tenant_id !== "" && { tenantId: columns.tenant_id }),
    ...(columns.user_id !== "" && { userId: columns.user_id }),
    ...(columns.app_id !== "" && { appId: columns.app_id }),
  };
}

/** A row with its scope in place of its columns. */
export function withScope<Row extends ScopeRow>({ tenant_id, user_id, app_id, ...row }: Row) {
  return { ...row, scope: scopeOf({ tenant_id, user_id, app_id }) };
}

/** Index key: ids may be longer than an index entry. Collisions of md5 can be constructed. */
export const idDigest = (id: Sql | string | null): Sql =>
  sql`sha256(replace(${id}, E'\\\\', E'\\\\\\\\')::bytea)`;

export const isId = (column: Sql, id: Sql | string | null): Sql =>
  sql`${idDigest(column)} = ${idDigest(id)} and ${column} = ${id}`;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const uuidOf = (id: string): string | null => (uuid.test(id) ? id : null);

type OwnerIds = Readonly<Record<keyof ScopeColumns, string | Sql>>;

export const ownerIs = ({ tenantId, userId, appId }: OwnerIds): Sql =>
  sql`${isId(sql`o.tenant_id`, tenantId)} and ${isId(sql`o.user_id`, userId)} and ${isId(sql`o.app_id`, appId)}`;

export const threadIs = (tenantId: string | Sql, threadId: string | Sql | null): Sql =>
  sql`${isId(sql`t.tenant_id`, tenantId)} and ${isId(sql`t.thread_id`, threadId)}`;

/** Whether a thread `t` of the scope's tenant is the scope's own. */
export const isOwnThread = ({ userId = "", appId = "" }: Scope): Sql =>
  sql`t.user_id = ${userId} and t.app_id = ${appId}`;

/**
 * Whether `t` may be a source of this scope's memories: a thread of its user, or else of its app.
 */
export const isSourceThread = (
  { tenantId, userId, appId }: OwnerIds,
  threadId: string | Sql | null,
): Sql =>
  sql`${threadIs(tenantId, threadId)} and t.user_id = ${userId} and (t.user_id <> '' or t.app_id = ${appId})`;

export const ofSource = (column: Sql, userId: string | Sql): Sql =>
  sql`case when ${userId} <> '' or t.id is not null then ${column} end`;

/**
 * Whether an event (`e`), thread (`t`), owner (`o`) or other row (`x`) is in the scope; uses the
 * index.
 */
export function withinScope(
  { tenantId, userId, appId }: ScopeColumns,
  row: "e" | "t" | "o" | "x",
): Sql {
  const is = (column: keyof ScopeRow, value: string) => isId(raw(`${row}.${column}`), value);
  const conditions = [is("tenant_id", tenantId)];
  if (userId !== "") conditions.push(is("user_id", userId));
  if (appId !== "") conditions.push(is("app_id", appId));
  return join(conditions, " and ");
}

/** Whether a row is in a list for a scope, a tenant, or all. */
export function isListed(
  { scope, tenantId }: { scope: Scope | undefined; tenantId?: string | undefined },
  row: "e" | "t" | "o" | "x",
): Sql {
  if (scope) return withinScope(scopeColumns(scope), row);
  return tenantId === undefined ? sql`true` : isId(raw(`${row}.tenant_id`), tenantId);
}

/**
 * Whether an owner (`o`) or thread (`t`) belongs to somebody. A literal: the planner takes "not this
 * parameter" for nearly no row where all rows have one tenant, and reads the table for the first.
 */
export const isSomebody = (row: "o" | "t"): Sql =>
  raw(`${row}.tenant_id <> '${scopeColumns(nobody).tenantId}'`);

/** Selects `columns` of the owners `o` visible to `scope`: its user and its app. */
export function seenOwners(db: Connection, scope: Scope, columns = sql`o.id`): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owners: ScopeColumns[] = [];
  if (userId !== "") owners.push({ tenantId, userId, appId: "" });
  if (appId !== "") owners.push({ tenantId, userId: "", appId });
  // One lookup per owner: an "or" would scan all owners.
  const selects = owners.map(
    (owner) => sql`select ${columns}\nfrom ${db.schema}.owner o\nwhere ${ownerIs(owner)}`,
  );
  return join(selects, "\nunion all\n");
}

/** Whether `scope` sees a memory (`m`), consent (`c`) or audit row (`h`), including the app's. */
export function belongsTo(db: Connection, scope: Scope, row: "m" | "c" | "h"): Sql {
  const { appId } = scopeColumns(scope);
  const owned = sql`${raw(row)}.owner_ref = any (array(${seenOwners(db, scope)}))`;
  return appId === "" ? owned : sql`${owned} and ${raw(row)}.app_id in ('', ${appId})`;
}

/** The same by the memory's own columns, for lookups by id. */
export function isSeenFrom(scope: Scope): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`m.tenant_id = ${tenantId} and m.user_id in ('', ${userId})
    and (m.app_id in ('', ${appId}) or (${appId} = '' and m.user_id <> ''))`;
}

export interface LockedOwner {
  readonly ref: OwnerRef;
  readonly revision: number;
  readonly turns: number;
  readonly now: Date;
}

/**
 * Locks the owner of `scope`, created if missing. Every change to its memories takes this lock
 * first, so they are serial.
 */
export async function lockOwner(tx: Connection, scope: Scope): Promise<LockedOwner> {
  const { tenantId, userId, appId } = ownerColumns(scope);
  const digests = sql`${idDigest(sql`tenant_id`)}, ${idDigest(sql`user_id`)}, ${idDigest(sql`app_id`)}`;
  const [row] = await tx.query<LockedOwner>(
    sql`
    with locked as (
      insert into ${tx.schema}.owner as o (tenant_id, user_id, app_id)
      values (${tenantId}, ${userId}, ${appId})
      -- An update that changes nothing, since it locks the row.
      on conflict (${digests}) do update set revision = o.revision
        where o.tenant_id = excluded.tenant_id and o.user_id = excluded.user_id and o.app_id = excluded.app_id
      returning id, revision, turns
    )
    select id::float8 as ref, revision::float8 as revision, turns::float8 as turns, ${tx.now()} as now from locked`,
    { prepare: true },
  );
  if (row) return row;
  throw new MemoryError(
    "ID_TAKEN",
    "Another owner's ids have the digest of this scope's: use other ids.",
  );
}

export async function findOwner(db: Connection, scope: Scope): Promise<OwnerRef | null> {
  const [owner] = await db.query<{ ref: OwnerRef }>(
    sql`select o.id::float8 as ref from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))}`,
  );
  return owner?.ref ?? null;
}
