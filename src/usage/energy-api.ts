import sql, { join, type Sql } from "sql-template-tag";
import { z } from "zod";
import type { Connection } from "../postgres/connection.js";
import { asListed, asTenant } from "../postgres/isolation.js";
import { parseListed, type Scope, scopeField, tenantField } from "../scope/scope.js";
import { type AllListing, ofTenant, scopeColumns, withinScope } from "../scope/scope-predicates.js";
import { parseInput, storableDate } from "../text/parse-input.js";
import { type EnergyLevel, energyLevel } from "./energy-level.rule.js";
import type { EnergyOptions } from "./energy-options.js";
import { findLeft, sumOfUnits } from "./energy-statements.js";

/** What consumption can be told by. "day" is the day in UTC, as "2030-05-01", "hour" its hour: "2030-05-01T13:00Z". */
const energyFields = ["kind", "tenant", "user", "app", "hour", "day"] as const;

/** What consumption can be told by. */
export type EnergyField = (typeof energyFields)[number];

/** What calls took together that have the same fields; a user, app or tenant that they do not have is null. */
export type EnergyConsumed = Readonly<Partial<Record<EnergyField, string | null>>> & {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly units: number;
};

/** Whose consumption, and since when. */
export interface EnergySelection extends AllListing {
  /** Of a user, of a user within an app, or of an app with all its users. @default everybody */
  readonly scope?: Scope;
  /** Not before. @default all that is kept, see `energy.keepUsageDays` */
  readonly since?: Date | undefined;
}

/**
 * What models took in the background, and what is left to each tenant. Below the low mark notes, compaction, insights
 * and consolidation wait; summaries, facts, episodes and procedures go on.
 */
export interface EnergyApi {
  /**
   * How much energy a tenant has now: one that was never charged is full.
   *
   * @param of.tenantId @default those without a tenant, who are one
   * @throws MemoryError `INVALID_INPUT`
   */
  level(of?: { readonly tenantId?: string | undefined }): Promise<EnergyLevel>;
  /**
   * What calls took, by one or more fields: in the order of time where an hour or a day is one, else most units first.
   *
   * @example
   * ```ts
   * for (const { kind, units, calls } of await memory.energy.consumed({ by: "kind" })) console.log(kind, units, calls);
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  consumed(
    selection: EnergySelection & { readonly by: EnergyField | readonly EnergyField[] },
  ): Promise<EnergyConsumed[]>;
}

const columns: Readonly<Record<EnergyField, Sql>> = {
  kind: sql`x.kind`,
  tenant: sql`nullif(x.tenant_id, '')`,
  user: sql`nullif(x.user_id, '')`,
  app: sql`nullif(x.app_id, '')`,
  hour: sql`to_char(x.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:00"Z"')`,
  day: sql`to_char(x.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
};
const ofTime: readonly EnergyField[] = ["hour", "day"];

const levelSchema = z.strictObject({ tenantId: tenantField }).default({});
const field = z.enum(energyFields);
const consumedSchema = z.strictObject({
  scope: scopeField,
  tenantId: tenantField,
  since: storableDate.optional(),
  by: z.union([field.transform((name) => [name]), z.array(field).min(1)]),
});

/** The `EnergyApi` on `db`. */
export function createEnergyApi(db: Connection, options: EnergyOptions): EnergyApi {
  return {
    async level(of) {
      const { tenantId = "" } = parseInput(levelSchema, of, "tenant");
      const { left } = await asTenant(tenantId, () => findLeft(db, tenantId));
      return energyLevel(left, options);
    },
    async consumed(input) {
      const { by, since, ...whose } = parseListed(consumedSchema, input, "selection of consumption");
      return asListed(whose, () => sumUsage(db, { by: [...new Set(by)], since, ...whose }));
    },
  };
}

async function sumUsage(
  db: Connection,
  {
    by,
    since,
    scope,
    tenantId,
  }: Omit<EnergySelection, "scope"> & { by: readonly EnergyField[]; scope: Scope | undefined },
): Promise<EnergyConsumed[]> {
  const within = scope ? withinScope(scopeColumns(scope), "x") : ofTenant(sql`x.tenant_id`, tenantId);
  const order = join([
    ...by.flatMap((name, index) => (ofTime.includes(name) ? [sql`u.values[${index + 1}]`] : [])),
    sql`sum(u.units) desc, u.values`,
  ]);
  const rows = await db.query<Omit<EnergyConsumed, EnergyField> & { values: (string | null)[] }>(sql`
    select u.values, count(*)::int as calls, sum(u.input_tokens)::float8 as "inputTokens",
      sum(u.output_tokens)::float8 as "outputTokens", ${sumOfUnits(sql`u.units`)} as units
    from (
      select array[${join(by.map((name) => columns[name]))}]::text[] as values, x.input_tokens, x.output_tokens, x.units
      from ${db.schema}.usage x
      where ${within} ${since ? sql`and x.created_at >= ${since}::timestamptz` : sql``}
    ) u
    group by u.values order by ${order}`);
  return rows.map(
    ({ values, ...sums }) =>
      ({
        ...Object.fromEntries(by.map((name, index) => [name, values[index]])),
        ...sums,
      }) as EnergyConsumed,
  );
}
