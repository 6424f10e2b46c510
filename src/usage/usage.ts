import { randomUUID } from "node:crypto";
import { errorLine, type Logger } from "../logger.js";
import { type Charge, spanTokens } from "../models/token-usage.js";
import type { Connection } from "../postgres/connection.js";
import { asTenant } from "../postgres/isolation.js";
import type { Scope } from "../scope/scope.js";
import { pausedUntil } from "./energy.js";
import { type EnergyOptions, tokensPerUnit } from "./energy-options.js";
import { chargeCall, type UsageOf } from "./usage-statements.js";

/** Costs of background calls, and whether there is energy for deferrable work. */
export interface Usage {
  /** Charges each call; for `callStructured`. A failed charge is only logged. */
  charging(of: UsageOf): Charge;
  /** When deferrable work may start, while the tenant's energy is low; null: now. At most two hours ahead. */
  pausedUntil(scope: Scope): Promise<Date | null>;
}

export interface ProcessUsage extends Usage {
  /** Units of this process since the last poll, of all tenants. */
  energyConsumedSinceLastPoll(): number;
}

export function createUsage({
  db,
  options,
  logger,
}: {
  readonly db: Connection;
  readonly options: EnergyOptions;
  readonly logger: Logger;
}): ProcessUsage {
  let unpolledTokens = 0;
  return {
    charging:
      ({ scope, threadId, kind }) =>
      async (tokens) => {
        unpolledTokens += tokens.inputTokens + tokens.outputTokens;
        spanTokens.getStore()?.(tokens);
        const call = { id: randomUUID(), scope, threadId, kind, ...tokens };
        try {
          await asTenant(scope.tenantId, () => chargeCall(db, call));
        } catch (error) {
          const fields = { ...(threadId !== undefined && { threadId }), step: kind };
          logger.error(
            `What a call of a model took could not be written down (${kind}): ${errorLine(error)}`,
            fields,
          );
        }
      },
    pausedUntil: ({ tenantId = "" }) => pausedUntil(db, tenantId, options),
    energyConsumedSinceLastPoll() {
      const units = unpolledTokens / tokensPerUnit;
      unpolledTokens = 0;
      return units;
    },
  };
}
