import sql, { type Sql } from "sql-template-tag";
import type { Scope } from "../domain/scope.js";

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

/** Columns as a scope. */
export function scopeOf(columns: { tenant_id: string; user_id: string; app_id: string }): Scope {
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

/** Whether the column `held` has this id: found by its digest, decided by the id itself. */
export function isId(held: Sql, id: Sql | string | null): Sql {
  return sql`${idDigest(held)} = ${idDigest(id)} and ${held} = ${id}`;
}
