import sql from "sql-template-tag";
import {
  type EventOp,
  type EventPlace,
  type EventStep,
  eventNode,
} from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import type { ChangeEvent } from "./change-line.js";

export const historyEvents = [
  "ADD",
  "UPDATE",
  "DELETE",
  "MERGE",
  "LINK",
  "TTL",
  "RESTORE",
  "CONSENT",
] as const;

export type HistoryEvent = (typeof historyEvents)[number];

export interface MemoryChange extends EventPlace {
  readonly memoryId: string;
  readonly event: HistoryEvent;
  readonly old?: unknown;
  readonly new: unknown;
  /** The line of the delta header. @default agents do not see the change */
  readonly delta?: {
    readonly event: ChangeEvent;
    readonly line: string;
    readonly importance: number;
  } | null;
  readonly category: string;
  readonly similarity?: number | null;
}

export interface RecordedChanges {
  readonly ownerRef: OwnerRef;
  readonly scope: Scope;
  readonly actor: string;
  readonly step: EventStep;
  /** Similarity of the nearest memory, or null. Unset without a search. */
  readonly searched?: number | null | undefined;
  /** For the event of the search; each change has its own. */
  readonly place?: EventPlace | undefined;
  readonly changes: readonly MemoryChange[];
}

/**
 * Records audit trail, delta lines and events under the owner's lock. Returns the revision: each
 * line has one.
 */
export async function recordChanges(tx: Connection, input: RecordedChanges): Promise<number> {
  const { schema } = tx;
  const { ownerRef, actor, step, searched } = input;
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const { threadId = null, agentId = null, runId = null } = input.place ?? {};
  const node = eventNode(step);
  const changes = JSON.stringify(
    input.changes.map((change, position) => ({ ...change, op: opOf(change), position })),
  );
  const [row] = await tx.query<{ revision: string }>(
    sql`
    with input as materialized (
      select * from json_to_recordset(${changes}::json) as i (
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
        'search', 'ok', null, null, ${searched ?? null}::real, ${tx.now()}
      where ${searched !== undefined}
    )
    update ${schema}.owner o set revision = o.revision + (select count(delta) from change)
    where o.id = ${ownerRef}
    returning revision`,
    { prepare: true },
  );
  return Number(row?.revision);
}

function opOf({ event, new: now }: MemoryChange): EventOp {
  const { state, decision } = (now ?? {}) as { state?: unknown; decision?: "approve" | "refuse" };
  if (event === "ADD") return state === "quarantined" ? "quarantine" : "create";
  if (event === "CONSENT") return decision as "approve" | "refuse";
  return event.toLowerCase() as Lowercase<typeof event>;
}
