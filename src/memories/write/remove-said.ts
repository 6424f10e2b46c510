import sql from "sql-template-tag";
import type { EventPlace, EventStep } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { lockOwner, uuidOf } from "../../scope/scope-predicates.js";
import { applyChanges } from "../apply/apply-changes.js";
import { type ChangeSet, hideMemories, joinChanges } from "../apply/change-set.js";
import { consentChange } from "../guard/consent-request.rule.js";
import { findWaitingConsents, type WaitingConsent } from "../guard/consent-statements.js";
import { findOwned } from "../item/memory-row.js";
import { hideResting } from "./hide-resting.js";

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
  const ids = [...byId.keys()];

  // The memories, with the user's words as evidence.
  const isVisible = sql`m.state = 'active' and m.app_id in ('', ${scope.appId ?? ""})`;
  const isMeant = sql`m.id = any (${ids.map(uuidOf)}::uuid[])`;
  const found = await findOwned(tx, ownerRef, sql`${isMeant} and ${isVisible}`);
  const hidden = hideMemories(found, { purgeAfterMs }, "DELETE", ({ id }) => {
    const { quote, threadId, seq } = byId.get(id) as SaidRemoval;
    return { evidence: { quote, threadId, seq } };
  });
  const placed = hidden.changes.map((change) => {
    const { threadId, agentId, runId } = byId.get(change.memoryId) as SaidRemoval;
    return { ...change, threadId, agentId, runId };
  });

  // What was understood from them alone, and requests.
  const removed = found.map(({ id }) => id);
  const resting =
    removed.length === 0 ? {} : await hideResting(tx, { ownerRef, removed, purgeAfterMs });
  const pending = await findWaitingConsents(tx, { ownerRef, scope, ids, limit: ids.length });
  const refused = pending.map((request) => refusal(request, byId.get(request.id), actor));

  const set = joinChanges([{ ...hidden, changes: placed }, resting, ...refused]);
  await applyChanges(tx, { ownerRef, scope, actor, step }, set);
  return removed;
}

/** The user's words refuse a request. */
function refusal(
  request: WaitingConsent,
  removal: SaidRemoval | undefined,
  actor: string,
): Partial<ChangeSet> {
  const { quote, threadId } = removal as SaidRemoval;
  const { id } = request;
  const via = "said";
  const evidence = { quote, threadId: threadId ?? undefined };
  const entry = consentChange(request, { decision: "refuse", via, requestId: id, evidence });
  return {
    settled: [{ id, status: "refused", actor, via, evidence }],
    changes: [{ ...entry, threadId }],
  };
}
