import sql, { type Sql } from "sql-template-tag";
import { isId, type ScopeColumns } from "./scope-columns.js";

/** Whether the row `o` of `owner` is this one, in the form of its index. */
export function ownerIs({
  tenantId,
  userId,
  appId,
}: Readonly<Record<keyof ScopeColumns, string | Sql>>): Sql {
  return sql`${isId(sql`o.tenant_id`, tenantId)} and ${isId(sql`o.user_id`, userId)} and ${isId(sql`o.app_id`, appId)}`;
}
