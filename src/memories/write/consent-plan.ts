import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import { insertEvents, type MemoryEvent } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { normalValue } from "../../text/normal-value.js";
import type { ConsentPolicy, ConsentRule } from "../guard/consent-policy.js";
import type { ConsentSignal } from "../guard/consent-request.js";
import type { StandingConsent } from "../guard/decide-proposal.js";
import type { PreparedMemory } from "./prepare-memory.js";
import { type SettledConsent, settleConsents } from "./standing-consents.js";

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
interface RepeatedConsent {
  readonly id: string;
  readonly times: number;
  readonly signals: readonly ConsentSignal[];
}

/** Inserts requests that wait `pendingMs`. Those that they supersede must have been settled before. */
async function insertConsents(
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
async function repeatConsents(tx: Connection, repeated: readonly RepeatedConsent[]): Promise<void> {
  if (repeated.length === 0) return;
  await tx.query(sql`
    update ${tx.schema}.consent_request c set seen_count = c.seen_count + i.times, signals = i.signals
    from json_to_recordset(${JSON.stringify(repeated)}::json) as i (id uuid, times integer, signals jsonb)
    where c.id = i.id`);
}

/** What one wave of drafts does to the requests that wait. */
export interface ConsentPlan {
  readonly settled: SettledConsent[];
  readonly created: NewConsent[];
  readonly repeated: RepeatedConsent[];
  readonly events: Omit<MemoryEvent, "scope">[];
}

/** A plan that does nothing. */
export function emptyConsentPlan(): ConsentPlan {
  return { settled: [], created: [], repeated: [], events: [] };
}

/** Does what `plan` says; what ends comes first, since a slot has one request that waits. */
export async function applyConsentPlan(
  tx: Connection,
  plan: ConsentPlan,
  { ownerRef, scope, policy }: { ownerRef: number; scope: Scope; policy: ConsentPolicy },
): Promise<void> {
  await settleConsents(tx, plan.settled);
  await insertConsents(tx, { ownerRef, pendingMs: policy.pendingMs, requests: plan.created });
  await repeatConsents(tx, plan.repeated);
  await insertEvents(
    tx,
    plan.events.map((event) => ({ ...event, scope })),
  );
}

/** `memory` as a request of its own. */
export function newConsent(
  memory: PreparedMemory,
  waits: { rule: ConsentRule; seenCount: number; signals: readonly ConsentSignal[]; proposedBy: string },
): NewConsent {
  const { scope, terms: _, quarantined: __, trust: ___, contentHash, ...draft } = memory;
  return {
    ...scopeColumns(scope),
    ...waits,
    id: randomUUID(),
    category: memory.category,
    key: memory.key ?? null,
    slot: memory.key === undefined ? `statement:${contentHash}` : `key:${memory.key}`,
    normalValue: proposedValue(memory),
    contentHash,
    draft,
  };
}

/** What makes two proposals for a slot the same. */
export function proposedValue({ value, text }: PreparedMemory): string {
  return normalValue(value ?? text);
}

/** Ends `request`, of `category`, without anybody's decision: its time is over, or another value came. */
export function lapse(
  plan: ConsentPlan,
  { id, expired }: StandingConsent,
  actor: string,
  category: string,
): void {
  const ended = { id, via: null, evidence: null, memoryId: null };
  if (expired) plan.events.push({ step: "consent", op: "expire", status: "ok", category });
  plan.settled.push(
    expired ? { ...ended, status: "expired", actor: null } : { ...ended, status: "superseded", actor },
  );
}
