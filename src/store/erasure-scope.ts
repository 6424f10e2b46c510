import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { ownerIs } from "./owner-is.js";
import { ownerColumns, type ScopeColumns, scopeColumns } from "./scope-columns.js";
import { withinScope } from "./within-scope.js";

/**
 * What belongs to a scope for good: of `{ userId }` everything of the user in all apps, of `{ userId, appId }` what
 * the user has in that app, of `{ appId }` what the app has of its own.
 */
export interface ErasureScope extends ScopeColumns {
  /** The owner's row, a bigint as text; null when there is none. */
  readonly ownerRef: string | null;
  /** Whether the owner's row belongs to the scope, and not just a part of what is the owner's. */
  readonly whole: boolean;
}

/** `scope` with its owner's row as it is now. */
export async function findErasureScope(db: Connection, scope: Scope): Promise<ErasureScope> {
  const columns = scopeColumns(scope);
  const [row] = await db.query<{ id: string }>(
    sql`select o.id from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))}`,
  );
  return { ...columns, ownerRef: row?.id ?? null, whole: columns.userId === "" || columns.appId === "" };
}

/** Whether the row `x`, which has all three columns of a scope, belongs to it. */
export function hasScope(columns: ScopeColumns): Sql {
  const within = withinScope(columns, "x");
  return columns.userId === "" ? sql`${within} and x.user_id = ''` : within;
}

/** Whether the row `x` belongs to the owner, and to the scope's app where it is only that. */
export function hasOwner({ ownerRef, whole, appId }: ErasureScope): Sql {
  return sql`x.owner_ref = ${ownerRef}::bigint and (${whole} or x.app_id = ${appId})`;
}
