import sql, { join, raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "./scope.js";

/** A scope as columns: '' for a missing id. */
export interface ScopeColumns {
  readonly tenantId: string;
  readonly userId: string;
  readonly appId: string;
}

export function scopeColumns(scope: Scope): ScopeColumns {
  return { tenantId: scope.tenantId ?? "", userId: scope.userId ?? "", appId: scope.appId ?? "" };
}

/** The owner of the data of `scope`: its user, in any app, or else its app. */
export function ownerColumns(scope: Scope): ScopeColumns {
  const columns = scopeColumns(scope);
  return { ...columns, appId: columns.userId === "" ? columns.appId : "" };
}

export type ScopeRow = { readonly tenant_id: string; readonly user_id: string; readonly app_id: string };

/** Whether `column` is this tenant; always true without one. */
export function ofTenant(column: Sql, tenantId: string | undefined): Sql {
  return tenantId === undefined ? sql`true` : sql`${column} = ${tenantId}`;
}

export function scopeOf(columns: ScopeRow): Scope {
  return {
    ...(columns.tenant_id !== "" && { tenantId: columns.tenant_id }),
    ...(columns.user_id !== "" && { userId: columns.user_id }),
    ...(columns.app_id !== "" && { appId: columns.app_id }),
  };
}

/** The digest in indexes: ids may exceed an index entry. Its collisions cannot be constructed, md5's can. */
export function idDigest(id: Sql | string | null): Sql {
  return sql`sha256(replace(${id}, E'\\\\', E'\\\\\\\\')::bytea)`;
}

/** Whether `column` equals the id: found by its digest, then compared. */
export function isId(column: Sql, id: Sql | string | null): Sql {
  return sql`${idDigest(column)} = ${idDigest(id)} and ${column} = ${id}`;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function uuidOf(id: string): string | null {
  return uuid.test(id) ? id : null;
}

type Columns = Readonly<Record<keyof ScopeColumns, string | Sql>>;

/** Whether the row `o` of `owner` is this one, by its index. */
export function ownerIs({ tenantId, userId, appId }: Columns): Sql {
  return sql`${isId(sql`o.tenant_id`, tenantId)} and ${isId(sql`o.user_id`, userId)} and ${isId(sql`o.app_id`, appId)}`;
}

/** Whether the row `t` of `thread` is this one, by its index. */
export function threadIs(tenantId: string | Sql, threadId: string | Sql | null): Sql {
  return sql`${isId(sql`t.tenant_id`, tenantId)} and ${isId(sql`t.thread_id`, threadId)}`;
}

/** Whether `t` is a source that a memory of this scope may name: a thread of its user, or of its app itself. */
export function isSourceThread({ tenantId, userId, appId }: Columns, threadId: string | Sql | null): Sql {
  return sql`${threadIs(tenantId, threadId)} and t.user_id = ${userId} and (t.user_id <> '' or t.app_id = ${appId})`;
}

/** `column` of a memory's thread `t`: null where an app's memory may not name that thread. */
export function ofSource(column: Sql, userId: string | Sql): Sql {
  return sql`case when ${userId} <> '' or t.id is not null then ${column} end`;
}

/** Whether a row of an event (`e`), thread (`t`), owner (`o`) or any (`x`) is in the scope, by index. */
export function withinScope({ tenantId, userId, appId }: ScopeColumns, row: "e" | "t" | "o" | "x"): Sql {
  const is = (column: keyof ScopeRow, value: string) => isId(raw(`${row}.${column}`), value);
  const user = userId === "" ? [] : [is("user_id", userId)];
  const app = appId === "" ? [] : [is("app_id", appId)];
  return join([is("tenant_id", tenantId), ...user, ...app], " and ");
}

/** Selects `columns` of the owners `o` that `scope` sees: its user and its app. */
export function seenOwners(db: Connection, scope: Scope, columns = sql`o.id`): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owners = [
    ...(userId === "" ? [] : [{ tenantId, userId, appId: "" }]),
    ...(appId === "" ? [] : [{ tenantId, userId: "", appId }]),
  ];
  // One lookup each: an "or" would scan all owners.
  const selects = owners.map((owner) => sql`select ${columns}\nfrom ${db.schema}.owner o\nwhere ${ownerIs(owner)}`);
  return join(selects, "\nunion all\n");
}

/** Whether `scope` sees a row of a memory (`m`), consent (`c`) or the audit trail (`h`), also of the app. */
export function belongsTo(db: Connection, scope: Scope, row: "m" | "c" | "h"): Sql {
  const { appId } = scopeColumns(scope);
  const owned = sql`${raw(row)}.owner_ref = any (array(${seenOwners(db, scope)}))`;
  return appId === "" ? owned : sql`${owned} and ${raw(row)}.app_id in ('', ${appId})`;
}

/** The same by the memory's own columns, for statements that look memories up by id. */
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
  if (!row) throw new MemoryError("ID_TAKEN", "Another owner's ids have the digest of this scope's: use other ids.");
  return { ref: Number(row.id), revision: Number(row.revision), turns: Number(row.turns), now: row.now };
}

/** The owner of `scope`; null where there is none. */
export async function findOwner(db: Connection, scope: Scope): Promise<number | null> {
  const [owner] = await db.query<{ id: string }>(
    sql`select o.id from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))}`,
  );
  return owner ? Number(owner.id) : null;
}
