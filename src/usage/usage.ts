import { randomUUID } from "node:crypto";
import { errorLine, type Logger } from "../logger.js";
import type { Charge } from "../models/token-usage.js";
import type { Connection } from "../postgres/connection.js";
import { asTenant } from "../postgres/isolation.js";
import type { Scope } from "../scope/scope.js";
import { pausedUntil } from "./energy.js";
import { type EnergyOptions, tokensPerUnit } from "./energy-options.js";
import { chargeCall, type UsageOf } from "./usage-statements.js";

/** What background calls cost, and whether there is energy for work that can wait. */
export interface Usage {
  /** Charges each call with what it took; for `callStructured`. A charge that fails is logged, and fails nothing. */
  charging(of: UsageOf): Charge;
  /**
   * When work that can wait may be taken up, since the tenant's energy is low; null for now. At most two
   * hours ahead. One round trip.
   */
  pausedUntil(scope: Scope): Promise<Date | null>;
}

/** The same of a whole process. */
export interface ProcessUsage extends Usage {
  /** Units that calls of this process took since this was asked last, of all tenants. */
  energyConsumedSinceLastPoll(): number;
}

/** `Usage` kept on `db`. */
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
        const call = { id: randomUUID(), scope, threadId, kind, ...tokens };
        try {
          await asTenant(scope.tenantId, () => chargeCall(db, call));
        } catch (error) {
          logger.error(
            `What a call of a model took could not be written down (${kind}): ${errorLine(error)}`,
            {
              ...(threadId !== undefined && { threadId }),
              step: kind,
            },
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
