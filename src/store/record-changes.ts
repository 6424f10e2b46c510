import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ChangeEvent } from "../domain/change-line.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/** Kinds of audit entries (seed 004 §8). */
export type HistoryEvent = "ADD" | "UPDATE" | "DELETE" | "MERGE" | "LINK" | "TTL" | "RESTORE" | "CONSENT";

/** One change to one memory, as it is remembered. */
export interface MemoryChange {
  readonly memoryId: string;
  readonly event: HistoryEvent;
  readonly old: unknown;
  readonly new: unknown;
  /** The line in the delta header; null for changes that are not news. */
  readonly news: { readonly event: ChangeEvent; readonly line: string; readonly importance: number } | null;
  readonly category: string;
  readonly similarity: number | null;
}

/**
 * Records changes to an owner's memories: audit trail, news, events, and one revision each for the news.
 *
 * Belongs in the transaction of the changes, after `lockOwner`. One statement. Returns the new revision.
 */
export async function recordChanges(
  tx: Connection,
  input: {
    ownerRef: number;
    scope: Scope;
    actor: string;
    node: string;
    changes: readonly MemoryChange[];
  },
): Promise<number> {
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const changes = JSON.stringify(input.changes.map((change, position) => ({ ...change, position })));
  const [row] = await tx.query<{ revision: string }>(sql`
    with input as (
      select i.*, o.revision + count(i.news) over (order by i.position) as rev
      from ${tx.schema}.owner o, json_to_recordset(${changes}::json) as i (
        position integer, "memoryId" uuid, event text, old jsonb, new jsonb, news json, category text, similarity real
      )
      where o.id = ${input.ownerRef}
    ),
    audit as (
      insert into ${tx.schema}.history (owner_ref, memory_id, event, old, new, actor, rev, created_at)
      select ${input.ownerRef}, "memoryId", event, old, new, ${input.actor}, rev, ${tx.now()}
      from input order by position
    ),
    news as (
      insert into ${tx.schema}.change_log 
        (owner_ref, rev, memory_id, event, category, line, importance, created_at)
      select ${input.ownerRef}, rev, "memoryId", news ->> 'event', category, news ->> 'line', (news ->> 'importance')::real,
        ${tx.now()}
      from input where news is not null
    ),
    event as (
      insert into ${tx.schema}.event
        (tenant_id, user_id, app_id, node, op, status, memory_id, category, similarity, created_at)
      select ${tenantId}, ${userId}, ${appId}, ${input.node},
        case event when 'ADD' then 'create' when 'MERGE' then 'merge' when 'DELETE' then 'delete'
          when 'TTL' then 'delete' else 'update' end,
        'ok', "memoryId", category, similarity, ${tx.now()}
      from input
    )
    update ${tx.schema}.owner o set revision = o.revision + (select count(news) from input)
    where o.id = ${input.ownerRef}
    returning revision`);
  return Number(row?.revision);
}
