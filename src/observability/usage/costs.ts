import sql, { raw } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";
import { listed, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import { isListed, type ScopeRow, withScope } from "../../scope/scope-predicates.js";
import { today, type UsageKind } from "./usage-statements.js";

/** What background calls of models took, together for one kind of work, one user or one app. */
export interface Cost {
  /** With `by: "kind"`. */
  readonly kind?: UsageKind;
  /** With `by: "user"` and `by: "app"`; empty for calls without one, or of somebody forgotten. */
  readonly scope?: Scope;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of energy: 100 tokens each. */
  readonly units: number;
}

const costsSchema = z.strictObject({
  /** @default everybody's, for operators */
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  by: z.enum(["kind", "user", "app"]),
  /** Days in UTC, the last of which is today, 1 to 90. @default 7 */
  days: z.int().min(1).max(90).default(7),
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
});

export interface ListCosts extends z.input<typeof costsSchema> {}

/** Most tokens first. @throws MemoryError `INVALID_INPUT` */
export function listCosts(db: Connection, input: ListCosts): Promise<Cost[]> {
  return listed(costsSchema, input, "list of costs", async (which) => {
    const { by, days, limit } = which;
    const keys = { kind: "x.kind", user: "x.tenant_id, x.user_id", app: "x.tenant_id, x.app_id" };
    const key = raw(keys[by]);
    const rows = await db.query<Partial<ScopeRow> & Cost>(sql`
      select ${key}, count(*)::int as calls, sum(x.input_tokens)::float8 as "inputTokens",
        sum(x.output_tokens)::float8 as "outputTokens", sum(x.units)::float8 as units
      from ${db.schema}.usage x
      where x.created_at >= ${today(db)} - ${(days - 1) * 24}::int * interval '1 hour' and ${isListed(which, "x")}
      group by ${key}
      order by sum(x.input_tokens::bigint + x.output_tokens) desc, ${key} limit ${limit}`);
    const unnamed = { tenant_id: "", user_id: "", app_id: "" };
    return by === "kind" ? rows : rows.map((row) => withScope({ ...unnamed, ...row }));
  });
}
