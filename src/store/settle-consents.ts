import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ConsentEvidence, ConsentVia } from "../domain/consent-request.js";

/** The end of a request that waits. */
export interface SettledConsent {
  readonly id: string;
  readonly status: "approved" | "refused" | "superseded" | "expired";
  /** Null when nobody decided. */
  readonly actor: string | null;
  readonly via: ConsentVia | null;
  readonly evidence: ConsentEvidence | null;
  /** The memory that came of it. */
  readonly memoryId: string | null;
}

/**
 * Ends those of `settled` that still wait, and returns their ids: of several deciders one gets it.
 *
 * A request whose time is over can only expire.
 */
export async function settleConsents(tx: Connection, settled: readonly SettledConsent[]): Promise<string[]> {
  if (settled.length === 0) return [];
  const rows = await tx.query<{ id: string }>(sql`
    update ${tx.schema}.consent_request c
    set status = i.status, decided_by = i.actor, decided_via = i.via, evidence = i.evidence, memory_id = i."memoryId",
      decided_at = case when i.status = 'expired' then c.expires_at else ${tx.now()} end
    from json_to_recordset(${JSON.stringify(settled)}::json) as i (
      id uuid, status text, actor text, via text, evidence jsonb, "memoryId" uuid
    )
    where c.id = i.id and c.status = 'pending' and (c.expires_at <= ${tx.now()}) = (i.status = 'expired')
    returning c.id`);
  return rows.map(({ id }) => id);
}
