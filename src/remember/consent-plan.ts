import { randomUUID } from "node:crypto";
import type { Connection } from "../database/connection.js";
import type { ConsentPolicy, ConsentRule } from "../domain/consent-policy.js";
import type { ConsentSignal } from "../domain/consent-signal.js";
import type { StandingConsent } from "../domain/decide-proposal.js";
import { normalValue } from "../domain/normal-value.js";
import type { Scope } from "../domain/scope.js";
import { insertEvents, type MemoryEvent } from "../store/insert-event.js";
import {
  insertConsents,
  type NewConsent,
  type RepeatedConsent,
  repeatConsents,
} from "../store/save-consents.js";
import { scopeColumns } from "../store/scope-columns.js";
import { type SettledConsent, settleConsents } from "../store/settle-consents.js";
import type { PreparedMemory } from "./prepare-memory.js";

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
