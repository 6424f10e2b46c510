import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns, scopeOf } from "./scope-columns.js";

/** A conversation and whom it belongs to. */
export interface Thread {
  readonly threadId: string;
  readonly scope: Scope;
  readonly messages: number;
  readonly createdAt: Date;
  readonly lastActivityAt: Date;
}

interface Row {
  thread_id: string;
  tenant_id: string;
  user_id: string;
  app_id: string;
  messages: number;
  created_at: Date;
  last_activity_at: Date;
}

/**
 * Threads of a user (in all apps when `scope.appId` is not set), or of an app when `scope.userId` is not
 * set; most recently active first.
 *
 * @param input.limit rows. @default 100
 * @param input.before only threads last active before this time: the last row's, for the next page.
 */
export async function listThreads(
  db: Connection,
  input: { scope: Scope; limit?: number | undefined; before?: Date | undefined },
): Promise<Thread[]> {
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const owner =
    userId === ""
      ? sql`md5(t.app_id) = md5(${appId}) and t.app_id = ${appId}`
      : sql`md5(t.user_id) = md5(${userId}) and t.user_id = ${userId} and ${appId} in ('', t.app_id)`;
  const rows = await db.query<Row>(sql`
    select t.thread_id, t.tenant_id, t.user_id, t.app_id, t.created_at, t.last_activity_at,
      (
        select coalesce(max(m.seq) + 1, 0) from ${db.schema}.message m where m.thread_ref = t.id
      ) as messages
    from ${db.schema}.thread t
    where md5(t.tenant_id) = md5(${tenantId}) and t.tenant_id = ${tenantId} and ${owner}
      and (${input.before ?? null}::timestamptz is null or t.last_activity_at < ${input.before ?? null})
    order by t.last_activity_at desc, t.id desc
    limit ${input.limit ?? 100}`);
  return rows.map((row) => ({
    threadId: row.thread_id,
    scope: scopeOf(row),
    messages: row.messages,
    createdAt: row.created_at,
    lastActivityAt: row.last_activity_at,
  }));
}
