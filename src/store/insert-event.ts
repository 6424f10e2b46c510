import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/** What happened where, without content (seed 004 §14). */
export interface MemoryEvent {
  readonly scope: Scope;
  readonly threadId?: string | undefined;
  /** Where: the hot path's recall and remember, or background work. */
  readonly node: "recall" | "remember" | "tool" | "summarize";
  readonly op: "search" | "create" | "update";
  readonly status: "ok" | "error" | "skipped";
  /** An error code or a reason; never content. */
  readonly detail?: string | undefined;
  /** Of the best memory, where there is one. */
  readonly similarity?: number | undefined;
}

/** Records `event`. */
export async function insertEvent(db: Connection, event: MemoryEvent): Promise<void> {
  const { tenantId, userId, appId } = scopeColumns(event.scope);
  await db.query(sql`
    insert into ${db.schema}.event 
      (tenant_id, user_id, app_id, thread_id, node, op, status, detail, similarity, created_at)
    values (${tenantId}, ${userId}, ${appId}, ${event.threadId ?? null}, ${event.node}, ${event.op},
      ${event.status}, ${event.detail ?? null}, ${event.similarity ?? null}, ${db.now()})`);
}
