import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { belongsTo } from "./belongs-to.js";
import { uuidOf } from "./uuid-of.js";

/** Lets those of `ids` that wait in `scope` rest for `restMs`: nobody is asked about them meanwhile. */
export async function postponeConsents(
  db: Connection,
  { scope, ids, restMs }: { scope: Scope; ids: readonly string[]; restMs: number },
): Promise<void> {
  await db.query(sql`
    update ${db.schema}.consent_request c set ask_at = ${db.now()} + ${restMs} * interval '1 millisecond'
    where c.id = any (${ids.map(uuidOf)}::uuid[]) and c.status = 'pending' and ${belongsTo(db, scope, "c")}`);
}
