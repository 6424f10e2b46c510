import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ThreadTask } from "./claim-thread-task.js";

/** Marks a thread's task as due now, unless it waits for its next try already. */
export async function markThreadTask(
  db: Connection,
  { threadRef, task }: { threadRef: number; task: ThreadTask },
): Promise<void> {
  await db.query(sql`
    insert into ${db.schema}.thread_task as k (thread_ref, task, done_until, retry_at)
    values (${threadRef}, ${task}, ${task === "extract" ? -1 : 0}, ${db.now()})
    on conflict (thread_ref, task) do update set retry_at = coalesce(k.retry_at, excluded.retry_at)`);
}
