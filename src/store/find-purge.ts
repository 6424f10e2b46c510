import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { belongsTo } from "./belongs-to.js";
import { uuidOf } from "./uuid-of.js";

/** When a memory of the scope's user or app was deleted for good; null when it was not. */
export async function findPurge(db: Connection, scope: Scope, memoryId: string): Promise<Date | null> {
  const [row] = await db.query<{ at: Date }>(sql`
    select h.created_at as at
    from ${db.schema}.history h
    where h.memory_id = ${uuidOf(memoryId)}::uuid and h.event = 'DELETE' and h.new ->> 'state' = 'purged'
      and ${belongsTo(db, scope, "h")}
    order by h.id desc limit 1`);
  return row?.at ?? null;
}
