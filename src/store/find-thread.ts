import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";
import { threadIs } from "./thread-is.js";

/** The thread named: `undefined` when there is none, `null` when it belongs to another scope. */
export async function findThread(
  db: Connection,
  { scope, threadId }: { scope: Scope; threadId: string },
): Promise<{ readonly threadRef: number } | null | undefined> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const [row] = await db.query<{ id: string; owned: boolean }>(sql`
    select t.id, t.user_id = ${userId} and t.app_id = ${appId} as owned from ${db.schema}.thread t
    where ${threadIs(tenantId, threadId)}`);
  if (!row) return undefined;
  return row.owned ? { threadRef: Number(row.id) } : null;
}
