import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import type { ThreadTaskClaim } from "./claim-thread-task.js";
import { scopeOf } from "./scope-columns.js";

/** A thread whose older turns may be due to become an episode. */
export interface CompressionWork {
  readonly scope: Scope;
  readonly threadId: string;
  /** Turns it has. */
  readonly turns: number;
}

/** The work behind `claim`; null when the claim was lost. */
export async function findCompressionWork(
  db: Connection,
  claim: ThreadTaskClaim,
): Promise<CompressionWork | null> {
  const [row] = await db.query<{
    tenant_id: string;
    user_id: string;
    app_id: string;
    thread_id: string;
    turns: number;
  }>(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id,
      (select count(*) from ${db.schema}.message m where m.thread_ref = t.id and m.role = 'user')::int as turns
    from ${db.schema}.thread_task k join ${db.schema}.thread t on t.id = k.thread_ref
    where k.thread_ref = ${claim.threadRef} and k.task = 'compress' and k.attempts = ${claim.attempt}
      and k.done_until = ${claim.doneUntil} and k.lease_until is not null`);
  return row ? { scope: scopeOf(row), threadId: row.thread_id, turns: row.turns } : null;
}
