import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ConsentRule } from "../domain/consent-policy.js";
import type { ConsentSignal } from "../domain/consent-signal.js";

/** A row of `consent_request` to insert. */
export interface NewConsent {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly appId: string;
  readonly rule: ConsentRule;
  readonly category: string;
  readonly key: string | null;
  readonly slot: string;
  readonly normalValue: string;
  readonly contentHash: string;
  /** JSON. */
  readonly draft: object;
  readonly seenCount: number;
  readonly signals: readonly ConsentSignal[];
  readonly proposedBy: string;
}

/** A request that was proposed again. */
export interface RepeatedConsent {
  readonly id: string;
  readonly times: number;
  readonly signals: readonly ConsentSignal[];
}

/** Inserts requests that wait `pendingMs`. Those that they supersede must have been settled before. */
export async function insertConsents(
  tx: Connection,
  input: { ownerRef: number; pendingMs: number; requests: readonly NewConsent[] },
): Promise<void> {
  if (input.requests.length === 0) return;
  await tx.query(sql`
    insert into ${tx.schema}.consent_request (
      id, owner_ref, tenant_id, user_id, app_id, rule, category, key, slot, normal_value, content_hash, draft,
      seen_count, signals, proposed_by, created_at, expires_at, ask_at
    )
    select id, ${input.ownerRef}, "tenantId", "userId", "appId", rule, category, key, slot, "normalValue",
      "contentHash", draft, "seenCount", signals, "proposedBy", ${tx.now()},
      ${tx.now()} + ${input.pendingMs} * interval '1 millisecond', ${tx.now()}
    from json_to_recordset(${JSON.stringify(input.requests)}::json) as i (
      id uuid, "tenantId" text, "userId" text, "appId" text, rule text, category text, key text, slot text,
      "normalValue" text, "contentHash" text, draft jsonb, "seenCount" integer, signals jsonb, "proposedBy" text
    )`);
}

/** Counts requests as proposed again. */
export async function repeatConsents(tx: Connection, repeated: readonly RepeatedConsent[]): Promise<void> {
  if (repeated.length === 0) return;
  await tx.query(sql`
    update ${tx.schema}.consent_request c set seen_count = c.seen_count + i.times, signals = i.signals
    from json_to_recordset(${JSON.stringify(repeated)}::json) as i (id uuid, times integer, signals jsonb)
    where c.id = i.id`);
}
