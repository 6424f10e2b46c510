import sql from "sql-template-tag";
import { z } from "zod";
import { parseInput } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";
import { asTenant } from "../../postgres/isolation.js";
import { tenantField } from "../../scope/scope.js";
import { isId } from "../../scope/scope-predicates.js";
import { type Cost, type ListCosts, listCosts } from "./costs.js";
import { type EnergyOptions, refillMs } from "./energy-options.js";

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
  costs(listing: ListCosts): Promise<Cost[]>;
}

const levelSchema = z.strictObject({ tenantId: tenantField }).default({});

export function createEnergyApi(db: Connection, options: EnergyOptions): EnergyApi {
  return {
    async level(of) {
      const { tenantId = "" } = parseInput(levelSchema, of, "tenant");
      return energyLevel((await findSpent(db, tenantId, options)).units, options);
    },
    costs: (listing) => listCosts(db, listing),
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
    low: units < lowBelow * capacity,
  };
}

/** `until`: when the energy is no longer low; null: it is not low now. */
export async function findSpent(
  db: Connection,
  tenantId: string,
  { capacityUnits: capacity, lowBelow }: EnergyOptions,
): Promise<{ readonly units: number; readonly until: Date | null }> {
  const allowed = capacity === null ? null : capacity - lowBelow * capacity;
  const refill = sql`${refillMs}::float8 * interval '1 millisecond'`;
  const [row] = await asTenant(tenantId, () =>
    db.query<{ units: number; until: Date | null }>(sql`
      select coalesce(sum(c.units), 0)::float8 as units,
        max(c.created_at) filter (where c.since > ${allowed}::numeric) + ${refill} as until
      from (
        select x.units::numeric, x.created_at, sum(x.units::numeric) over (order by x.created_at desc, x.id) as since
        from ${db.schema}.usage x
        where ${isId(sql`x.tenant_id`, tenantId)} and x.created_at > ${db.now()} - ${refill} and x.created_at <= ${db.now()}
      ) c`),
  );
  return row as NonNullable<typeof row>;
}
