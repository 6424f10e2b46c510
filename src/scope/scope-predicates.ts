import sql, { join, raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "./scope.js";

/** A scope as its columns hold it: '' where it has no such id. */
export interface ScopeColumns {
  readonly tenantId: string;
  readonly userId: string;
  readonly appId: string;
}

/** `scope` as columns. */
export function scopeColumns(scope: Scope): ScopeColumns {
  return { tenantId: scope.tenantId ?? "", userId: scope.userId ?? "", appId: scope.appId ?? "" };
}

/** The owner of what is kept of `scope`: its user, whatever the app, or else its app. */
export function ownerColumns(scope: Scope): ScopeColumns {
  const columns = scopeColumns(scope);
  return { ...columns, appId: columns.userId === "" ? columns.appId : "" };
}

/** A scope as statements select it. */
export type ScopeRow = {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly app_id: string;
};

/** A list over everybody, which names a tenant at most. */
export interface AllListing {
  /** Where no scope is named: only what this tenant has. @default what all tenants have */
  readonly tenantId?: string | undefined;
}

/** Whether `column` is of this tenant; any where none is named. */
export function ofTenant(column: Sql, tenantId: string | undefined): Sql {
  return tenantId === undefined ? sql`true` : sql`${column} = ${tenantId}`;
}

/** Columns as a scope. */
export function scopeOf(columns: ScopeRow): Scope {
  return {
    ...(columns.tenant_id !== "" && { tenantId: columns.tenant_id }),
    ...(columns.user_id !== "" && { userId: columns.user_id }),
    ...(columns.app_id !== "" && { appId: columns.app_id }),
  };
}

/**
 * What indexes hold of an id, in their form. Ids may be longer than an index entry, and two of them that share this
 * digest cannot be made, as they can of md5's.
 */
export function idDigest(id: Sql | string | null): Sql {
  return sql`sha256(replace(${id}, E'\\\\', E'\\\\\\\\')::bytea)`;
}

/** Whether `column` has this id: found by its digest, decided by the id itself. */
export function isId(column: Sql, id: Sql | string | null): Sql {
  return sql`${idDigest(column)} = ${idDigest(id)} and ${column} = ${id}`;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `id` where it is a UUID, to be compared as one; null for any other text, which is the id of nothing. */
export function uuidOf(id: string): string | null {
  return uuid.test(id) ? id : null;
}

/** Whether the row `o` of `owner` is this one, in the form of its index. */
export function ownerIs({
  tenantId,
  userId,
  appId,
}: Readonly<Record<keyof ScopeColumns, string | Sql>>): Sql {
  return sql`${isId(sql`o.tenant_id`, tenantId)} and ${isId(sql`o.user_id`, userId)} and ${isId(sql`o.app_id`, appId)}`;
}

/** Whether the row `t` of `thread` is this one, in the form of its index. */
export function threadIs(tenantId: string | Sql, threadId: string | Sql | null): Sql {
  return sql`${isId(sql`t.tenant_id`, tenantId)} and ${isId(sql`t.thread_id`, threadId)}`;
}

/**
 * Whether the row `t` of `thread` is the one named, and a memory of this scope may name it as where it was learned: one
 * of its user's, or where it has no user its app's own. A memory of an app is everybody's in the app, and names no
 * user's thread.
 */
export function isSourceThread(
  memory: Readonly<Record<keyof ScopeColumns, string | Sql>>,
  threadId: string | Sql | null,
): Sql {
  const { tenantId, userId, appId } = memory;
  return sql`${threadIs(tenantId, threadId)} and t.user_id = ${userId} and (t.user_id <> '' or t.app_id = ${appId})`;
}

/** `column` of a memory to insert, which tells of its thread `t`: null where an app's memory may not name that. */
export function ofSource(column: Sql, userId: string | Sql): Sql {
  return sql`case when ${userId} <> '' or t.id is not null then ${column} end`;
}

/**
 * Whether a row of an event (`e`), a thread (`t`), an owner (`o`) or any of them (`x`) is of the scope, in the form of their indexes. What the scope does not name may be any, but never the tenant.
 */
export function withinScope({ tenantId, userId, appId }: ScopeColumns, row: "e" | "t" | "o" | "x"): Sql {
  const is = (column: "tenant_id" | "user_id" | "app_id", value: string) =>
    isId(raw(`${row}.${column}`), value);
  return join(
    [
      is("tenant_id", tenantId),
      ...(userId === "" ? [] : [is("user_id", userId)]),
      ...(appId === "" ? [] : [is("app_id", appId)]),
    ],
    " and ",
  );
}

/** Query for `columns` of the owners `o` whose memories are seen from `scope`: its user and its app, where it names them. */
export function seenOwners(db: Connection, scope: Scope, columns = sql`o.id`): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owners = [
    ...(userId === "" ? [] : [{ tenantId, userId, appId: "" }]),
    ...(appId === "" ? [] : [{ tenantId, userId: "", appId }]),
  ];
  // One lookup each: a condition with "or" would read all owners there are.
  return join(
    owners.map((owner) => sql`select ${columns}\nfrom ${db.schema}.owner o\nwhere ${ownerIs(owner)}`),
    "\nunion all\n",
  );
}

/**
 * Whether a row of a memory (`m`), a consent request (`c`) or the audit trail (`h`) can be seen from `scope`: it is the
 * user's own, or of the user within the app, or the app's. Without an app, all of the user's.
 */
export function belongsTo(db: Connection, scope: Scope, row: "m" | "c" | "h"): Sql {
  const { appId } = scopeColumns(scope);
  const owned = sql`${raw(row)}.owner_ref = any (array(${seenOwners(db, scope)}))`;
  return appId === "" ? owned : sql`${owned} and ${raw(row)}.app_id in ('', ${appId})`;
}

/** The same of a memory `m` by its own columns, for statements that look memories up by their ids. */
export function isSeenFrom(scope: Scope): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`m.tenant_id = ${tenantId} and m.user_id in ('', ${userId})
    and (m.app_id in ('', ${appId}) or (${appId} = '' and m.user_id <> ''))`;
}

/** An owner's row, locked until the transaction ends. */
export interface LockedOwner {
  readonly ref: number;
  readonly revision: number;
  readonly turns: number;
  /** The time of all that is written under this lock. */
  readonly now: Date;
}

/**
 * Locks the owner of `scope` (its user, or its app where there is no user), making it if it is new.
 *
 * Every change to an owner's memories starts here, so they happen one after another and the statements that
 * follow see all earlier ones.
 */
export async function lockOwner(tx: Connection, scope: Scope): Promise<LockedOwner> {
  const { tenantId, userId, appId } = ownerColumns(scope);
  const digests = sql`${idDigest(sql`tenant_id`)}, ${idDigest(sql`user_id`)}, ${idDigest(sql`app_id`)}`;
  const [row] = await tx.query<{ id: string; revision: string; turns: string; now: Date }>(
    sql`
    with locked as (
      insert into ${tx.schema}.owner as o (tenant_id, user_id, app_id)
      values (${tenantId}, ${userId}, ${appId})
      -- An update that changes nothing, since it locks the row.
      on conflict (${digests}) do update set revision = o.revision
        where o.tenant_id = excluded.tenant_id and o.user_id = excluded.user_id and o.app_id = excluded.app_id
      returning id, revision, turns
    )
    select id, revision, turns, ${tx.now()} as now from locked`,
    { prepare: true },
  );
  if (!row)
    throw new MemoryError("ID_TAKEN", "Another owner's ids have the digest of this scope's: use other ids.");
  return { ref: Number(row.id), revision: Number(row.revision), turns: Number(row.turns), now: row.now };
}

/** The owner of `scope`; null where there is none. */
export async function findOwner(db: Connection, scope: Scope): Promise<number | null> {
  const [owner] = await db.query<{ id: string }>(
    sql`select o.id from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))}`,
  );
  return owner ? Number(owner.id) : null;
}
