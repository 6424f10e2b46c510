import sql from "sql-template-tag";
import type { Database } from "../database/database.js";
import type { Scope } from "../domain/scope.js";
import { countRows } from "../store/erase-rows.js";
import { findErasableThreads } from "../store/erase-threads.js";
import { type ErasedThread, findErasureScope, hasMemory, threadsOf } from "../store/erasure-scope.js";
import {
  checkpointTables,
  eventTables,
  existingTables,
  memoryRecordTables,
  memoryTables,
  messageTables,
  recordTables,
  threadTables,
} from "../store/erasure-tables.js";
import { checkpointNamesOf } from "./checkpoint-threads.js";
import type { Forgotten } from "./forget.js";

/** What forgetting `scope`, or one thread of it, would remove now. */
export async function previewForget(
  db: Database,
  scope: Scope,
  thread: ErasedThread | null,
): Promise<Forgotten> {
  const erasure = await findErasureScope(db, scope, thread);
  const threads = await findErasableThreads(db, erasure);
  const names = await checkpointNamesOf(db, { tenantId: erasure.tenantId, threads });
  const keys = {
    memories: sql`array(select x.ref from ${db.schema}.memory x where ${hasMemory(db, erasure)})`,
    memoryIds: sql`array(select x.id from ${db.schema}.memory x where ${hasMemory(db, erasure)})`,
    threads: sql`array(${threadsOf(db, erasure)})`,
    checkpointThreads: sql`${names.own}::text[]`,
  };
  const tables = await existingTables(db, [
    ...memoryTables,
    ...checkpointTables,
    ...messageTables,
    ...threadTables,
    ...(thread ? [...memoryRecordTables, ...eventTables] : recordTables),
  ]);
  const counts = await countRows(db, tables, { keys, scope: erasure });
  const owner = erasure.ownerRef !== null && erasure.whole ? 1 : 0;
  const removed = Object.fromEntries(
    Object.entries({ ...counts, thread: threads.length, owner }).filter(([, count]) => count > 0),
  );
  const total = Object.values(removed).reduce((sum, count) => sum + count, 0);
  return { removed, total, sharedThreads: names.shared.toSorted(), complete: total === 0 };
}
