import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ConsentRule } from "../domain/consent-policy.js";
import type {
  ConsentEvidence,
  ConsentRequest,
  ConsentStatus,
  ConsentVia,
} from "../domain/consent-request.js";
import type { ConsentSignal } from "../domain/consent-signal.js";
import type { MemorySource } from "../domain/memory.js";
import { isId, scopeOf } from "./scope-columns.js";

/** A row of `consent_request` as `consentColumns` selects it. */
export interface ConsentRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly app_id: string;
  readonly rule: ConsentRule;
  readonly category: string;
  readonly key: string | null;
  readonly draft: { readonly text: string; readonly value?: string; readonly source?: MemorySource };
  readonly current: string | null;
  readonly status: ConsentStatus;
  readonly seen_count: number;
  readonly signals: readonly ConsentSignal[];
  readonly proposed_by: string;
  readonly memory_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ask_at: Date;
  readonly decided_at: Date | null;
  readonly decided_by: string | null;
  readonly decided_via: ConsentVia | null;
  readonly evidence: ConsentEvidence | null;
  readonly revision: string;
}

/** The columns of the row `c`; one whose time is over is expired, whether or not a sweep has said so. */
export function consentColumns(db: Connection): Sql {
  return sql`c.id, c.tenant_id, c.user_id, c.app_id, c.rule, c.category, c.key, c.draft, ${currentValue(db)} as current,
    ${consentStatus(db)} as status, c.seen_count, c.signals, c.proposed_by, c.memory_id, c.created_at, c.expires_at,
    c.ask_at, c.decided_at, c.decided_by, c.decided_via, c.evidence, c.revision`;
}

/** How the row `c` stands now. */
export function consentStatus(db: Connection): Sql {
  return sql`case when c.status = 'pending' and c.expires_at <= ${db.now()} then 'expired' else c.status end`;
}

/** What holds the slot of the row `c`. */
export function currentValue(db: Connection): Sql {
  return sql`(
    select coalesce(h.value, h.content) from ${db.schema}.memory h
    where h.owner_ref = c.owner_ref and ${isId(sql`h.app_id`, sql`c.app_id`)}
      and h.category = c.category and h.key = c.key and h.state = 'active'
  )`;
}

/** A row as a request. */
export function consentOf(row: ConsentRow): ConsentRequest {
  return {
    id: row.id,
    scope: scopeOf(row),
    rule: row.rule,
    category: row.category,
    key: row.key,
    value: row.draft.value ?? null,
    text: row.draft.text,
    current: row.current,
    status: row.status,
    seenCount: row.seen_count,
    signals: row.signals.length,
    proposedBy: row.proposed_by,
    source: row.draft.source ?? null,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    askAt: row.ask_at,
    decidedAt: row.decided_at ?? (row.status === "expired" ? row.expires_at : null),
    decidedBy: row.decided_by,
    decidedVia: row.decided_via,
    evidence: row.evidence,
    memoryId: row.memory_id,
    revision: Number(row.revision),
  };
}
