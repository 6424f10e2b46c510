import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/** What happened where, without content (seed 004 §14). */
export interface MemoryEvent {
  readonly scope: Scope;
  readonly threadId?: string | undefined;
  /** Where: the hot path's recall and remember, or background work. */
  readonly node: "recall" | "remember" | "tool" | "summarize" | "extract" | "compress" | "procedure";
  /** "classify": whether something proposed may be written. */
  readonly op: "search" | "classify" | "create" | "update" | "merge";
  readonly status: "ok" | "error" | "skipped";
  /** An error code or a reason; never content. */
  readonly detail?: string | undefined;
  /** Of what was proposed or found, where it is known. */
  readonly category?: string | undefined;
  /** Of the best memory, where there is one. */
  readonly similarity?: number | undefined;
}

/** Records `event`. */
export async function insertEvent(db: Connection, event: MemoryEvent): Promise<void> {
  await insertEvents(db, [event]);
}

/** Records `events`, in one statement. */
export async function insertEvents(db: Connection, events: readonly MemoryEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = JSON.stringify(events.map(({ scope, ...event }) => ({ ...event, ...scopeColumns(scope) })));
  await db.query(sql`
    insert into ${db.schema}.event
      (tenant_id, user_id, app_id, thread_id, node, op, status, detail, category, similarity, created_at)
    select "tenantId", "userId", "appId", "threadId", node, op, status, detail, category, similarity, ${db.now()}
    from json_to_recordset(${rows}::json) as e (
      "tenantId" text, "userId" text, "appId" text, "threadId" text, node text, op text, status text, detail text,
      category text, similarity real
    )`);
}
