import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ScopeColumns } from "./scope-columns.js";
import { threadIs } from "./thread-is.js";

/** A thread to import. */
export interface ImportedThread {
  readonly threadId: string;
  readonly appId: string;
  readonly revSeen: number;
  readonly createdAt: string;
  readonly lastActivityAt: string;
  readonly tasks: readonly { readonly task: string; readonly doneUntil: number; readonly due: boolean }[];
}

/** Makes the threads that are not there yet, and how far background work on them has come. Returns how many. */
export async function importThreads(
  tx: Connection,
  input: { scope: ScopeColumns; ownerRef: number; threads: readonly ImportedThread[] },
): Promise<number> {
  const { tenantId, userId } = input.scope;
  const [row] = await tx.query<{ made: number }>(sql`
    with input as (
      select row_number() over () as position, i.* from json_to_recordset(${JSON.stringify(input.threads)}::json) as i (
        "threadId" text, "appId" text, "revSeen" bigint, "createdAt" timestamptz, "lastActivityAt" timestamptz,
        tasks json
      )
    ),
    made as (
      insert into ${tx.schema}.thread
        (tenant_id, thread_id, user_id, app_id, owner_ref, rev_seen, created_at, last_activity_at)
      select ${tenantId}, "threadId", ${userId}, "appId", ${input.ownerRef}::bigint, "revSeen", "createdAt",
        "lastActivityAt"
      from input order by position
      on conflict do nothing
      returning id, thread_id
    ),
    task as (
      insert into ${tx.schema}.thread_task (thread_ref, task, done_until, retry_at)
      select m.id, k.task, k."doneUntil", case when k.due then ${tx.now()} end
      from made m join input i on i."threadId" = m.thread_id
      cross join lateral json_to_recordset(i.tasks) as k (task text, "doneUntil" integer, due boolean)
    )
    select count(*)::int as made from made`);
  return row?.made ?? 0;
}

/** The refs of threads by their ids; null for one that belongs to another scope. */
export async function findThreadRefs(
  tx: Connection,
  input: { scope: ScopeColumns; threadIds: readonly string[] },
): Promise<Map<string, { readonly ref: string; readonly appId: string } | null>> {
  const { tenantId, userId, appId } = input.scope;
  const rows = await tx.query<{ id: string; ref: string; app: string; own: boolean }>(sql`
    select t.thread_id as id, t.id::text as ref, t.app_id as app,
      t.user_id = ${userId} and ${appId} in ('', t.app_id) as own
    from unnest(${input.threadIds}::text[]) i (id)
    join ${tx.schema}.thread t
      on ${threadIs(tenantId, sql`i.id`)}`);
  return new Map(rows.map(({ id, ref, app, own }) => [id, own ? { ref, appId: app } : null]));
}
