import { join, raw, type Sql } from "sql-template-tag";
import { isId, type ScopeColumns } from "./scope-columns.js";

/**
 * Whether a row of an event (`e`), a thread (`t`) or either (`x`) is of the scope, in the form of their indexes. What the scope does not name may be any, but never the tenant.
 */
export function withinScope({ tenantId, userId, appId }: ScopeColumns, row: "e" | "t" | "x"): Sql {
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
