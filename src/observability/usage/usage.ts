import { randomUUID } from "node:crypto";
import { errorLine, type Logger } from "../../logger.js";
import { type Charge, spanTokens } from "../../models/token-usage.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import { asTenant } from "../../postgres/isolation.js";
import type { Scope } from "../../scope/scope.js";
import { measureTokens } from "../telemetry/meter.js";
import { findSpent } from "./energy.js";
import { type EnergyOptions, tokensPerUnit } from "./energy-options.js";
import { chargeCall, type UsageOf } from "./usage-statements.js";

/** Costs of background calls, and whether there is energy for deferrable work. */
export type Usage = ReturnType<typeof createUsage>;

interface UsageDeps {
  readonly db: Database;
  readonly options: EnergyOptions;
  readonly logger: Logger;
  /** Records that a tenant's energy is used up; false when it is recorded already. */
  readonly recordExhausted: (db: Connection, tenantId: string, detail: string) => Promise<boolean>;
}

export function createUsage({ db, options, logger, recordExhausted }: UsageDeps) {
  let unpolledTokens = 0;
  /** Tenants without energy: concurrent calls report each once. */
  const exhausted = new Set<string>();
  const reportExhausted = async (tenantId: string): Promise<void> => {
    const { capacityUnits: capacity } = options;
    if (capacity === null) return;
    const { units } = await findSpent(db, tenantId, options);
    if (units < capacity) return void exhausted.delete(tenantId);
    if (exhausted.has(tenantId)) return;
    exhausted.add(tenantId);
    const whose = tenantId === "" ? "everybody without a tenant" : `tenant ${tenantId}`;
    const spent = `${whose}: ${Math.round(units)} of ${capacity} units spent`;
    if (!(await asTenant(tenantId, () => recordExhausted(db, tenantId, spent)))) return;
    logger.warn(
      `energy is used up (${spent}): notes, compaction, insights and consolidation wait, summaries and facts go on. ` +
        "Raise energy.capacityUnits if that is too early.",
    );
  };
  return {
    /** The `charge` of `callStructured`. A failed charge is only logged. */
    charging:
      ({ scope, threadId, kind }: UsageOf): Charge =>
      async (tokens) => {
        unpolledTokens += tokens.inputTokens + tokens.outputTokens;
        spanTokens.getStore()?.(tokens);
        measureTokens(kind, tokens, db.schemaName);
        const call = { id: randomUUID(), scope, threadId, kind, ...tokens };
        try {
          await asTenant(scope.tenantId, () => chargeCall(db, call));
          await reportExhausted(scope.tenantId ?? "");
        } catch (error) {
          const fields = { ...(threadId !== undefined && { threadId }), step: kind };
          logger.error(
            `What a call of a model took could not be written down (${kind}): ${errorLine(error)}`,
            fields,
          );
        }
      },
    /** When deferrable work may start, at most two hours ahead; null: now. */
    pausedUntil: async ({ tenantId = "" }: Scope) => (await findSpent(db, tenantId, options)).until,
    /** Units that this process spent since the last poll, for all tenants. */
    energyConsumedSinceLastPoll() {
      const units = unpolledTokens / tokensPerUnit;
      unpolledTokens = 0;
      return units;
    },
  };
}
