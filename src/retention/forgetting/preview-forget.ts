import sql from "sql-template-tag";
import { checkpointNamesOf } from "../../checkpoints/checkpoint-names.js";
import type { Connection } from "../../postgres/connection.js";
import {
  type ErasedThread,
  findErasureScope,
  hasMemory,
  hasScope,
  notesOf,
  threadsOf,
} from "../../scope/erasure-scope.js";
import type { Scope } from "../../scope/scope.js";
import { findErasableThreads } from "../../transcript/list-threads.js";
import {
  addCounts,
  checkpointTables,
  countRows,
  itemTables,
  memoryRecordTables,
  memoryTables,
  noteSourceTables,
  ofThreads,
  type RowCounts,
  recordTables,
  threadTables,
  totalOf,
} from "./erasure-tables.js";

/** What would be deleted: counts what the batches delete. A table added there belongs here too. */
export async function previewForget(db: Connection, scope: Scope, thread: ErasedThread | null) {
  const erasure = await findErasureScope(db, scope, thread);
  const { ownerRef, tenantId, whole } = erasure;
  const found = await findErasableThreads(db, erasure);
  const checkpoints = await checkpointNamesOf(db, { tenantId, threads: found });
  const threads = sql`array(${threadsOf(db, erasure)})`;
  const notes = sql`array(${notesOf(db, erasure)})`;
  const isMemory = hasMemory(db, erasure);
  const memories = sql`array(
    select x.ref from ${db.schema}.memory x where ${isMemory}
    union
    select x.ref from ${db.schema}.memory x where x.id in (${notesOf(db, erasure)})
  )`;
  const tables = [
    ...memoryTables(memories),
    ...checkpointTables(checkpoints.own),
    ...ofThreads(["message_term", "message", ...threadTables], threads),
    ...recordTables(erasure),
    // The audit trail of notes that apps made of the threads.
    {
      table: "history",
      rows: sql`x.memory_id = any (${notes}) and x.owner_ref is distinct from ${ownerRef}::bigint`,
    },
  ];
  if (thread) {
    const ids = sql`array(select x.id from ${db.schema}.memory x where ${isMemory})`;
    tables.push(...memoryRecordTables(ownerRef, ids), ...noteSourceTables(threads, null));
  } else {
    const items = sql`array(select x.ref from ${db.schema}.store_item x where ${hasScope(erasure)})`;
    tables.push(...itemTables(items), ...noteSourceTables(threads, ownerRef));
  }
  const removed: RowCounts = {};
  addCounts(removed, await countRows(db, tables));
  addCounts(removed, { thread: found.length, owner: ownerRef !== null && whole ? 1 : 0 });
  const total = totalOf(removed);
  return { removed, total, sharedThreads: checkpoints.shared.toSorted(), complete: total === 0 };
}
