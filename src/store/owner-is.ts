import sql, { type Sql } from "sql-template-tag";
import type { ScopeColumns } from "./scope-columns.js";

/** Whether the row `o` of `owner` is this one, in the form of its index: of hashes, since ids may be of any length. */
export function ownerIs({
  tenantId,
  userId,
  appId,
}: Readonly<Record<keyof ScopeColumns, string | Sql>>): Sql {
  return sql`md5(o.tenant_id) = md5(${tenantId}) and o.tenant_id = ${tenantId}
    and md5(o.user_id) = md5(${userId}) and o.user_id = ${userId}
    and md5(o.app_id) = md5(${appId}) and o.app_id = ${appId}`;
}
