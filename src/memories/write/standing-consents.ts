import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { ConsentEvidence, ConsentSignal, ConsentVia } from "../guard/consent-request.js";
import type { StandingConsent } from "../guard/decide-proposal.js";
import { byProbe } from "./find-write-candidates.js";

/** The slot of a change that somebody wants to make; without a key, the statements of its category. */
export interface ConsentProbe {
  readonly appId: string;
  readonly category: string;
  readonly key: string | null;
}

interface Row {
  probe: number;
  id: string;
  status: "pending" | "refused";
  expired: boolean;
  normal_value: string;
  content_hash: string;
  text: string;
  valid_from: string | null;
  signals: ConsentSignal[];
}

/**
 * What waits for each of `probes` or was refused less than `refusedMs` ago, by the probes' order, newest first.
 *
 * Belongs in the transaction of the write, after `lockOwner`.
 */
export async function findStandingConsents(
  tx: Connection,
  input: { ownerRef: number; probes: readonly ConsentProbe[]; refusedMs: number },
): Promise<StandingConsent[][]> {
  const rows = await tx.query<Row>(
    sql`
    select p.index as probe, c.id, c.status, c.status = 'pending' and c.expires_at <= ${tx.now()} as expired,
      c.normal_value, c.content_hash, c.draft ->> 'text' as text, c.draft ->> 'validFrom' as valid_from, c.signals
    from json_to_recordset(${JSON.stringify(input.probes.map((probe, index) => ({ ...probe, index })))}::json) as p (
      index integer, "appId" text, category text, key text
    )
    join ${tx.schema}.consent_request c
      on c.owner_ref = ${input.ownerRef} and c.app_id = p."appId" and c.category = p.category
      and c.key is not distinct from p.key and c.status in ('pending', 'refused')
    where c.status = 'pending'
      or c.decided_at > ${tx.now()} - ${input.refusedMs} * interval '1 millisecond'
    order by c.ref desc`,
    { prepare: true },
  );
  return byProbe(rows, input.probes.length).map((found) => found.map(standingOf));
}

function standingOf(row: Row): StandingConsent {
  return {
    id: row.id,
    status: row.status,
    expired: row.expired,
    normalValue: row.normal_value,
    contentHash: row.content_hash,
    text: row.text,
    validFrom: row.valid_from === null ? null : new Date(row.valid_from),
    signals: row.signals,
  };
}

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
