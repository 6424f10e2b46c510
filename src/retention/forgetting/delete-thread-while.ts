import sql, { type Sql } from "sql-template-tag";
import { insertEvent } from "../../observability/events/event-log.js";
import type { Database } from "../../postgres/database.js";
import { type ErasedThread, findErasureScope, hasScope } from "../../scope/erasure-scope.js";
import type { ThreadAddress } from "../../scope/scope.js";
import {
  type BatchOptions,
  eraseConversationBatch,
  eraseMemoryBatch,
  eraseRecordBatch,
} from "./erase-batches.js";
import { addCounts, type RowCounts, totalOf } from "./erasure-tables.js";
import { tombstone, transaction } from "./forget.js";

/** One transaction has no use for small batches. */
const batchSize = 10_000;

/**
 * Deletes a thread as `threads.delete` does, if `mayGo` holds of it and of its agents' threads, as
 * `t`, once they are locked. In one transaction, so that none is left in part. Returns the rows that
 * it deleted.
 */
export async function deleteThreadWhile(
  db: Database,
  { scope, threadId }: ThreadAddress,
  mayGo: Sql,
): Promise<RowCounts> {
  const thread: ErasedThread = { threadId, memories: "episodes" };
  return transaction(db, async (tx) => {
    const erasure = await findErasureScope(tx, scope, thread);
    const family = await tx.query<{ ref: string }>(sql`
      select x.id::text as ref from ${tx.schema}.thread x where ${hasScope(erasure)} order by x.id for no key update`);
    const refs = family.map(({ ref }) => ref);
    const allowed = await tx.query(sql`
      select from ${tx.schema}.thread t where t.id = any (${refs}::bigint[]) and ${mayGo}`);
    const removed: RowCounts = {};
    if (refs.length === 0 || allowed.length < refs.length) return removed;
    const options: BatchOptions = { scope, batchSize, shared: new Set() };
    for (const eraseBatch of [eraseMemoryBatch, eraseConversationBatch, eraseRecordBatch]) {
      let erased: RowCounts;
      do {
        erased = await eraseBatch(tx, erasure, options);
        addCounts(removed, erased);
      } while (totalOf(erased) > 0);
    }
    await insertEvent(tx, { ...tombstone(scope, removed), step: "lifecycle" });
    return removed;
  });
}
