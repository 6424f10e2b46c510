import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { type EventSelection, selected } from "./count-events.js";
import { eventPart, eventStep } from "./event-columns.js";
import { scopeOf } from "./scope-columns.js";

/** What happened, without content. */
export interface RecordedEvent {
  readonly id: number;
  readonly scope: Scope | null;
  readonly threadId: string | null;
  /** The agent and the run that it happened in, where they are known. */
  readonly agentId: string | null;
  readonly runId: string | null;
  /** "context", "hotpath", "episodic", "worker" or "governance". */
  readonly node: string;
  readonly step: string;
  readonly op: string;
  readonly status: "ok" | "error" | "skipped";
  /** An error code or a reason. */
  readonly detail: string | null;
  readonly memoryId: string | null;
  readonly category: string | null;
  readonly similarity: number | null;
  readonly at: Date;
}

type Row = Omit<RecordedEvent, "id" | "scope"> & {
  id: string;
  tenant_id: string;
  user_id: string;
  app_id: string;
};

/** The selected events, latest first; those before the event `before`. */
export async function listEvents(
  db: Connection,
  { limit, before, ...selection }: EventSelection & { limit: number; before?: number | undefined },
): Promise<RecordedEvent[]> {
  const rows = await db.query<Row>(sql`
    select e.id, e.tenant_id, e.user_id, e.app_id, e.thread_id as "threadId", e.agent_id as "agentId",
      e.run_id as "runId", ${eventPart} as node, ${eventStep} as step,
      e.op, e.status, e.detail, e.memory_id as "memoryId", e.category, e.similarity, e.created_at as at
    from ${db.schema}.event e
    where ${selected(selection)} and e.id < coalesce(${before ?? null}::bigint, 9223372036854775807)
    order by e.id desc limit ${limit}`);
  return rows.map(({ id, tenant_id, user_id, app_id, ...event }) => ({
    ...event,
    id: Number(id),
    scope: user_id === "" && app_id === "" ? null : scopeOf({ tenant_id, user_id, app_id }),
  }));
}
