import sql from "sql-template-tag";
import { type EventOp, eventNode } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import type { MemoryChange } from "../changes/memory-change.js";
import type { Changer } from "./change-set.js";

/**
 * Records audit trail, delta lines and events under the owner's lock. Each line has a revision of
 * the owner.
 */
export async function recordChanges(
  tx: Connection,
  { ownerRef, scope, actor, step, search }: Changer,
  changes: readonly MemoryChange[],
): Promise<void> {
  if (changes.length === 0 && !search) return;
  const { schema } = tx;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const { threadId = null, agentId = null, runId = null } = search?.place ?? {};
  const node = eventNode(step);
  const rows = changes.map((change, position) => ({ ...change, op: opOf(change), position }));
  await tx.query(
    sql`
    with input as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as i (
        position integer, "memoryId" uuid, event text, op text, old jsonb, new jsonb, delta json, category text,
        similarity real, "threadId" text, "agentId" text, "runId" text
      )
    ),
    -- One lookup each: a join with a list of unknown length may scan the whole table.
    existing as (
      select i.position, m.app_id, m.revision
      from input i cross join lateral (
        select app_id, revision from ${schema}.memory where id = i."memoryId" limit 1
      ) m
    ),
    change as (
      select i.*, o.revision + count(i.delta) over (order by i.position) as rev, coalesce(m.app_id, ${appId}) as app,
        m.revision as memory_revision
      from input i
      cross join (select revision from ${schema}.owner where id = ${ownerRef}) o
      left join existing m on m.position = i.position
    ),
    audit as (
      insert into ${schema}.history
        (owner_ref, app_id, memory_id, event, old, new, actor, rev, memory_revision, created_at)
      select ${ownerRef}, app, "memoryId", event, old, new, ${actor}, rev, memory_revision, ${tx.now()}
      from change order by position
    ),
    delta as (
      insert into ${schema}.change_log
        (owner_ref, app_id, rev, memory_id, event, category, line, importance, created_at)
      select ${ownerRef}, app, rev, "memoryId", delta ->> 'event', category, delta ->> 'line',
        (delta ->> 'importance')::real, ${tx.now()}
      from change where delta is not null
    ),
    event as (
      insert into ${schema}.event
        (tenant_id, user_id, app_id, thread_id, agent_id, run_id, node, step, op, status, memory_id, category,
          similarity, created_at)
      select ${tenantId}, ${userId}, ${appId}, "threadId", "agentId", "runId", ${node}, ${step}, op, 'ok', "memoryId",
        category, similarity, ${tx.now()}
      from change
      union all
      select ${tenantId}, ${userId}, ${appId}, ${threadId}::text, ${agentId}::text, ${runId}::text, ${node}, ${step},
        'search', 'ok', null, null, ${search?.similarity ?? null}::real, ${tx.now()}
      where ${search !== undefined}
    )
    update ${schema}.owner o set revision = o.revision + (select count(delta) from change)
    where o.id = ${ownerRef}`,
    { prepare: true },
  );
}

function opOf({ event, new: now }: MemoryChange): EventOp {
  const { state, decision } = (now ?? {}) as { state?: unknown; decision?: "approve" | "refuse" };
  if (event === "ADD") return state === "quarantined" ? "quarantine" : "create";
  if (event === "CONSENT") return decision as "approve" | "refuse";
  return event.toLowerCase() as Lowercase<typeof event>;
}
