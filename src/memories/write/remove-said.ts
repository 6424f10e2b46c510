import sql from "sql-template-tag";
import type { EventPlace, EventStep } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { lockOwner, uuidOf } from "../../scope/scope-predicates.js";
import { type MemoryChange, recordChanges } from "../changes/record-changes.js";
import { consentChange } from "../guard/consent-request.rule.js";
import { findWaitingConsents, settleConsents } from "../guard/consent-statements.js";
import { type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";
import { hideMemories } from "./memory-states.js";
import { removeResting } from "./remove-resting.js";

/** A memory, or a pending consent request, that its user asked to forget. */
export interface SaidRemoval extends EventPlace {
  readonly id: string;
  readonly quote: string;
  readonly seq: number;
}

/**
 * Hides memories that the user asked to forget, and insights derived from them; refuses consent
 * requests. Returns ids.
 */
export async function removeSaid(
  tx: Connection,
  input: {
    scope: Scope;
    removals: readonly SaidRemoval[];
    actor: string;
    step: EventStep;
    purgeAfterMs: number;
  },
): Promise<string[]> {
  const { scope, removals, actor, step, purgeAfterMs } = input;
  if (removals.length === 0) return [];
  const { ref: ownerRef } = await lockOwner(tx, scope);
  const byId = new Map(removals.map((removal) => [removal.id, removal]));
  const rows = await tx.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(tx)} as memory from ${tx.schema}.memory m
    where m.owner_ref = ${ownerRef} and m.id = any (${[...byId.keys()].map(uuidOf)}::uuid[]) and m.state = 'active'
      and m.app_id in ('', ${scope.appId ?? ""})
    order by m.ref`);
  const found = rows.map(({ memory }) => memoryOf(memory));
  const removed = found.map(({ id }) => id);
  const how = { ownerRef, purgeAfterMs, vectors: false };
  const hidden = await hideMemories(tx, { ...how, event: "DELETE" }, found, ({ id }) => {
    const { quote, threadId, seq } = byId.get(id) as SaidRemoval;
    return { evidence: { quote, threadId, seq } };
  });
  const placed = hidden.map((change) => {
    const { threadId, agentId, runId } = byId.get(change.memoryId) as SaidRemoval;
    return { ...change, threadId, agentId, runId };
  });
  const insights = removed.length === 0 ? [] : await removeResting(tx, { ...how, removed });
  const refused = await refuseRequests(tx, { ownerRef, scope, actor, byId });
  const changes = [...placed, ...insights, ...refused];
  if (changes.length > 0) await recordChanges(tx, { ownerRef, scope, actor, step, changes });
  return removed;
}

async function refuseRequests(
  tx: Connection,
  input: { ownerRef: number; scope: Scope; actor: string; byId: ReadonlyMap<string, SaidRemoval> },
): Promise<MemoryChange[]> {
  const { ownerRef, scope, actor, byId } = input;
  const ids = [...byId.keys()];
  const pending = await findWaitingConsents(tx, { ownerRef, scope, ids, limit: ids.length });
  const via = "said";
  const refused = pending.map((request) => {
    const { quote, threadId } = byId.get(request.id) as SaidRemoval;
    return { ...request, evidence: { quote, threadId: threadId ?? undefined }, threadId };
  });
  await settleConsents(
    tx,
    refused.map(({ id, evidence }) => ({
      id,
      status: "refused",
      actor,
      via,
      evidence,
      memoryId: null,
    })),
  );
  return refused.map(({ evidence, threadId, ...request }) => ({
    ...consentChange(request, { decision: "refuse", via, requestId: request.id, evidence }),
    threadId,
  }));
}
