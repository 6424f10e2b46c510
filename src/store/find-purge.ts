import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";

/** When a memory of the scope's user or app was deleted for good; null when it was not. */
export async function findPurge(db: Connection, scope: Scope, memoryId: string): Promise<Date | null> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const [row] = await db.query<{ at: Date }>(sql`
    select h.created_at as at
    from ${db.schema}.history h join ${db.schema}.owner o on o.id = h.owner_ref
    where h.memory_id::text = ${memoryId} and h.event = 'DELETE' and h.new ->> 'state' = 'purged'
      and o.tenant_id = ${tenantId}
      and (o.user_id = ${userId} and ${userId} <> '' or o.user_id = '' and o.app_id = ${appId} and ${appId} <> '')
    order by h.id desc limit 1`);
  return row?.at ?? null;
}
