import sql, { raw, type Sql } from "sql-template-tag";
import type { Scope } from "../scope/scope.js";
import { isId, scopeColumns, withinScope } from "../scope/scope-predicates.js";

/** Of what statistics are read. */
export interface StatsSelection {
  readonly scope: Scope | undefined;
  readonly tenantId?: string | undefined;
  readonly days: number;
}

/** Whether a row of a table that has the ids of a scope belongs to the selection. */
export function isSelected({ scope, tenantId }: StatsSelection, row: "e" | "t" | "o" | "x"): Sql {
  if (scope) return withinScope(scopeColumns(scope), row);
  return tenantId === undefined ? sql`true` : isId(raw(`${row}.tenant_id`), tenantId);
}

/** The share of `part` in `whole`; null where there is nothing. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
