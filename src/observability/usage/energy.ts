import sql, { raw } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";
import { asTenant } from "../../postgres/isolation.js";
import { listed, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import { isId, isListed, type ScopeRow, withScope } from "../../scope/scope-predicates.js";
import { type EnergyOptions, refillMs } from "./energy-options.js";
import { today, type UsageKind } from "./usage-statements.js";

export interface EnergyLevel {
  /** Percent of the capacity, 0 to 100; 100 without a budget. */
  readonly level: number;
  /** Units left, below zero after overspending. Null without a budget. */
  readonly units: number | null;
  /** Null without a budget. */
  readonly capacity: number | null;
  /** Whether deferrable work (notes, compaction, insights, consolidation) waits. */
  readonly low: boolean;
}

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

/** Each tenant's budget for background calls of models. */
export interface EnergyApi {
  /**
   * A tenant's capacity minus what its calls of the last two hours spent.
   * @example
   * ```ts
   * const { level, low } = await memory.energy.level({ tenantId: "acme" });
   * ```
   * @param of.tenantId @default calls without a tenant
   * @throws MemoryError `INVALID_INPUT`
   */
  level(of?: z.input<typeof levelSchema>): Promise<EnergyLevel>;
  /**
   * What background calls of models took in the last days, by kind of work, user or app: most tokens
   * first. Without a scope: everybody's, for operators.
   * @example
   * ```ts
   * for (const { kind, calls, inputTokens } of await memory.energy.costs({ by: "kind", days: 7 }))
   *   console.log(kind, calls, inputTokens);
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  costs(listing: z.input<typeof costsSchema>): Promise<Cost[]>;
}

const levelSchema = z.strictObject({ tenantId: tenantField }).default({});

export function createEnergyApi(db: Connection, options: EnergyOptions): EnergyApi {
  return {
    async level(of) {
      const { tenantId = "" } = parseInput(levelSchema, of, "tenant");
      return energyLevel((await findSpent(db, tenantId, options)).units, options);
    },
    costs: (listing) =>
      listed(costsSchema, listing, "list of costs", async (which) => {
        const { by, days, limit } = which;
        const keys = {
          kind: "x.kind",
          user: "x.tenant_id, x.user_id",
          app: "x.tenant_id, x.app_id",
        };
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
      }),
  };
}

/** @param spent units since the last refill. */
export function energyLevel(
  spent: number,
  { capacityUnits: capacity, lowBelow }: EnergyOptions,
): EnergyLevel {
  if (capacity === null) return { level: 100, units: null, capacity, low: false };
  const units = capacity - spent;
  return {
    level: Math.max(0, (units / capacity) * 100),
    units,
    capacity,
    low: spent > 0 && spent >= allowedUnits(capacity, lowBelow),
  };
}

/** Where this much is spent, `lowBelow` of the capacity is left and deferrable work waits. */
const allowedUnits = (capacity: number, lowBelow: number): number => capacity - lowBelow * capacity;

/** `until`: when the energy is no longer low; null: it is not low now. */
export async function findSpent(
  db: Connection,
  tenantId: string,
  { capacityUnits: capacity, lowBelow }: EnergyOptions,
): Promise<{ readonly units: number; readonly until: Date | null }> {
  const allowed = capacity === null ? null : allowedUnits(capacity, lowBelow);
  const refill = sql`${refillMs}::float8 * interval '1 millisecond'`;
  const [row] = await asTenant(tenantId, () =>
    db.query<{ units: number; until: Date | null }>(sql`
      select coalesce(sum(c.units), 0)::float8 as units,
        max(c.created_at) filter (where c.since > 0 and c.since >= ${allowed}::numeric) + ${refill} as until
      from (
        select x.units::numeric, x.created_at, sum(x.units::numeric) over (order by x.created_at desc, x.id) as since
        from ${db.schema}.usage x
        where ${isId(sql`x.tenant_id`, tenantId)} and x.created_at > ${db.now()} - ${refill} and x.created_at <= ${db.now()}
      ) c`),
  );
  return row as NonNullable<typeof row>;
}
