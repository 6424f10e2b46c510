import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/**
 * Whether a row of a memory (`m`) or of a consent request (`c`) can be seen from `scope`: it is the user's own, or of
 * the user within the app, or the app's. Without an app, all of the user's.
 */
export function belongsTo(db: Connection, scope: Scope, row: "m" | "c"): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`${raw(row)}.owner_ref in (
      select o.id from ${db.schema}.owner o
      where md5(o.tenant_id) = md5(${tenantId}) and o.tenant_id = ${tenantId} and (
        (${userId} <> '' and md5(o.user_id) = md5(${userId}) and o.user_id = ${userId})
        or (${appId} <> '' and o.user_id = '' and md5(o.app_id) = md5(${appId}) and o.app_id = ${appId})
      )
    ) and (${appId} = '' or ${raw(row)}.app_id in ('', ${appId}))`;
}
