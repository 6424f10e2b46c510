import sql from "sql-template-tag";
import type { EventPlace } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { lockOwner, uuidOf } from "../../scope/scope-predicates.js";
import { applyChanges } from "../apply/apply-changes.js";
import {
  type Changer,
  type ChangeSet,
  evidenceLink,
  hideMemories,
  joinChanges,
} from "../apply/change-set.js";
import { consentChange } from "../consent/consent-request.rule.js";
import { findWaitingConsents } from "../consent/consent-statements.js";
import type { MemoryItem } from "../item/memory.js";
import { findOwned, type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";

export const lifecycleActor = "worker:lifecycle";

export function isExpired(db: Connection) {
  return sql`m.state = 'active' and m.expires_at <= ${db.now()}`;
}

/**
 * Hides expired memories of a locked owner, which frees their slots and texts. Returns how many. By
 * default at most 10,000: more than expire between two writes.
 */
export async function expireMemories(
  tx: Connection,
  owner: Pick<Changer, "ownerRef" | "scope">,
  { purgeAfterMs, limit = 10_000 }: { readonly purgeAfterMs: number; readonly limit?: number },
): Promise<number> {
  const end = sql`limit ${limit} for update of m`;
  const memories = await findOwned(tx, owner.ownerRef, isExpired(tx), end);
  const hidden = hideMemories(memories, { purgeAfterMs }, "TTL", ({ expiresAt }) => ({
    expiresAt,
  }));
  await applyChanges(tx, { ...owner, actor: lifecycleActor, step: "lifecycle" }, hidden);
  return memories.length;
}

/**
 * Insights in `states` whose evidence is among `evidence`, or was merged into one of these, each
 * with the id that it rests on.
 */
export async function findInsights(
  tx: Connection,
  ownerRef: OwnerRef,
  evidence: readonly string[],
  states: readonly MemoryItem["state"][] = ["active"],
): Promise<Map<MemoryItem, string>> {
  if (evidence.length === 0) return new Map();
  const rows = await tx.query<{ memory: MemoryJson; restsOn: string }>(
    sql`
    with recursive gone as (
      select m.ref, m.id, m.id as evidence from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef} and m.id = any (${evidence}::uuid[])
      union
      select m.ref, m.id, g.evidence from gone g
      join ${tx.schema}.memory m on m.superseded_by = g.id and m.owner_ref = ${ownerRef} and m.state = 'merged'
    ),
    resting as (
      select r.from_ref as ref, min(g.evidence::text) as evidence
      from gone g join ${tx.schema}.relation r on r.to_ref = g.ref and r.relation_type = ${evidenceLink}
      group by r.from_ref
    )
    select ${memoryJson(tx)} as memory, resting.evidence as "restsOn"
    from resting join ${tx.schema}.memory m on m.ref = resting.ref
    where m.kind = 'insight' and m.state = any (${states}::text[]) and m.id <> all (${evidence}::uuid[])
    order by m.ref`,
    { prepare: true },
  );
  return new Map(rows.map(({ memory, restsOn }) => [memoryOf(memory), restsOn]));
}

/** Hides insights that rest on `removed`, unless they are pinned. */
export async function hideInsights(
  tx: Connection,
  ownerRef: OwnerRef,
  removed: readonly string[],
  lifecycle: { readonly purgeAfterMs: number },
): Promise<Pick<ChangeSet, "deactivated" | "changes">> {
  const found = await findInsights(tx, ownerRef, removed);
  const insights = [...found.keys()].filter(({ pinned }) => !pinned);
  return hideMemories(insights, lifecycle, "DELETE", (each) => ({ restedOn: found.get(each) }));
}

/** A memory, or a pending consent request, that its user asked to forget. */
export interface SaidRemoval extends EventPlace {
  readonly id: string;
  readonly quote: string;
  readonly seq: number;
}

/**
 * Hides memories that the user asked to forget, and insights derived from them; refuses consent
 * requests.
 */
export async function removeSaid(
  tx: Connection,
  {
    removals,
    purgeAfterMs,
    ...changer
  }: Pick<Changer, "scope" | "actor" | "step"> & {
    readonly removals: readonly SaidRemoval[];
    readonly purgeAfterMs: number;
  },
): Promise<void> {
  if (removals.length === 0) return;
  const { scope, actor } = changer;
  const { ref: ownerRef } = await lockOwner(tx, scope);
  const byId = new Map(removals.map((removal) => [removal.id, removal]));
  const ids = [...byId.keys()];

  // The memories, with the user's words as evidence; also if the same words brought what closed one.
  const isVisible = sql`m.state in ('active', 'superseded') and m.app_id in ('', ${scope.appId ?? ""})`;
  const isMeant = sql`m.id = any (${ids.map(uuidOf)}::uuid[])`;
  const found = await findOwned(tx, ownerRef, sql`${isMeant} and ${isVisible}`);
  const hidden = hideMemories(found, { purgeAfterMs }, "DELETE", ({ id }) => {
    const { quote, threadId, seq } = byId.get(id) as SaidRemoval;
    return { evidence: { quote, threadId, seq } };
  });
  const changes = hidden.changes.map((change) => {
    const { threadId, agentId, runId } = byId.get(change.memoryId) as SaidRemoval;
    return { ...change, threadId, agentId, runId };
  });

  // Insights from these alone.
  const removed = found.map(({ id }) => id);
  const insights = await hideInsights(tx, ownerRef, removed, { purgeAfterMs });

  // Requests, which the user's words refuse.
  const pending = await findWaitingConsents(tx, { ownerRef, scope, ids, limit: ids.length });
  const refused = pending.map((request): Partial<ChangeSet> => {
    const { id } = request;
    const { quote, threadId } = byId.get(id) as SaidRemoval;
    const via = "said";
    const evidence = { quote, threadId: threadId ?? undefined };
    const entry = consentChange(request, { decision: "refuse", via, requestId: id, evidence });
    return {
      settled: [{ id, status: "refused", actor, via, evidence }],
      changes: [{ ...entry, threadId }],
    };
  });

  const set = joinChanges([{ ...hidden, changes }, insights, ...refused]);
  await applyChanges(tx, { ...changer, ownerRef }, set);
}
