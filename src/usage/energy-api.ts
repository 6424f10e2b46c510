import { z } from "zod";
import type { Connection } from "../postgres/connection.js";
import { asTenant } from "../postgres/isolation.js";
import { tenantField } from "../scope/scope.js";
import { parseInput } from "../text/parse-input.js";
import { type EnergyLevel, energyLevel } from "./energy-level.rule.js";
import type { EnergyOptions } from "./energy-options.js";
import { findLeft } from "./energy-statements.js";

/**
 * What is left to each tenant for background calls of models. Below the low mark notes, compaction, insights and
 * consolidation wait; summaries, facts, episodes and procedures go on.
 */
export interface EnergyApi {
  /**
   * How much energy a tenant has now: one that was never charged is full.
   *
   * @example
   * ```ts
   * const { level, low } = await memory.energy.level({ tenantId: "acme" });
   * ```
   * @param of.tenantId @default those without a tenant, who are one
   * @throws MemoryError `INVALID_INPUT`
   */
  level(of?: { readonly tenantId?: string | undefined }): Promise<EnergyLevel>;
}

const levelSchema = z.strictObject({ tenantId: tenantField }).default({});

/** The `EnergyApi` on `db`. */
export function createEnergyApi(db: Connection, options: EnergyOptions): EnergyApi {
  return {
    async level(of) {
      const { tenantId = "" } = parseInput(levelSchema, of, "tenant");
      const { left } = await asTenant(tenantId, () => findLeft(db, tenantId));
      return energyLevel(left, options);
    },
  };
}
