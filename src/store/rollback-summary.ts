import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/**
 * Makes a completed summary the one in use again, by marking every later one of its thread as rolled back;
 * one in the making is failed. False when the thread has no such completed summary.
 */
export async function rollbackSummary(
  db: Connection,
  input: { scope: Scope; threadId: string; summaryId: number },
): Promise<boolean> {
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const [row] = await db.query<{ found: boolean }>(sql`
    with target as (
      select s.id, s.thread_ref
      from ${db.schema}.summary s join ${db.schema}.thread t on t.id = s.thread_ref
      where s.id = ${input.summaryId} and s.status = 'completed'
        and t.tenant_id = ${tenantId} and t.thread_id = ${input.threadId}
        and t.user_id = ${userId} and t.app_id = ${appId}
    ),
    later as (
      update ${db.schema}.summary s
      set rolled_back_at = ${db.now()},
        status = case when s.status = 'processing' then 'failed' else s.status end,
        error = case when s.status = 'processing' then 'rolled back' else s.error end,
        lease_until = null, retry_at = null
      from target
      where s.thread_ref = target.thread_ref and s.id > target.id and s.rolled_back_at is null
      returning s.id
    ),
    restored as (
      update ${db.schema}.summary s set rolled_back_at = null from target where s.id = target.id returning s.id
    )
    select exists (select from target) as found, (select count(*) from later), (select count(*) from restored)`);
  return row?.found ?? false;
}
