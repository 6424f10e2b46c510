import sql from "sql-template-tag";
import type { Database } from "../database/database.js";
import type { Scope } from "../domain/scope.js";
import { countRows } from "../store/erase-rows.js";
import { findSharedThreadIds, threadsOf } from "../store/erase-threads.js";
import { findErasureScope, hasOwner, hasScope } from "../store/erasure-scope.js";
import {
  checkpointTables,
  existingTables,
  memoryTables,
  messageTables,
  recordTables,
  threadTables,
} from "../store/erasure-tables.js";
import type { Forgotten } from "./forget.js";

/** What forgetting `scope` would remove now. */
export async function previewForget(db: Database, scope: Scope): Promise<Forgotten> {
  const erasure = await findErasureScope(db, scope);
  const ids = await db.query<{ id: string }>(
    sql`select x.thread_id as id from ${db.schema}.thread x where ${hasScope(erasure)}`,
  );
  const threadIds = ids.map(({ id }) => id);
  const sharedThreads = await findSharedThreadIds(db, { tenantId: erasure.tenantId, threadIds });
  const shared = new Set(sharedThreads);
  const keys = {
    memories: sql`array(select x.ref from ${db.schema}.memory x where ${hasOwner(erasure)})`,
    threads: sql`array(${threadsOf(db, erasure)})`,
    checkpointThreads: sql`${threadIds.filter((id) => !shared.has(id))}::text[]`,
  };
  const tables = await existingTables(db, [
    ...memoryTables,
    ...checkpointTables,
    ...messageTables,
    ...threadTables,
    ...recordTables,
  ]);
  const counts = await countRows(db, tables, { keys, scope: erasure });
  const owner = erasure.ownerRef !== null && erasure.whole ? 1 : 0;
  const removed = Object.fromEntries(
    Object.entries({ ...counts, thread: threadIds.length, owner }).filter(([, count]) => count > 0),
  );
  const total = Object.values(removed).reduce((sum, count) => sum + count, 0);
  return { removed, total, sharedThreads: sharedThreads.sort(), complete: total === 0 };
}
