import sql from "sql-template-tag";
import { existingTables } from "../checkpoints/checkpoint-statements.js";
import { checkpointNamesOf } from "../checkpoints/checkpoint-threads.js";
import { eraseThreads, lockErasableThreads } from "../conversation/erasable-threads.js";
import { insertEvent, type MemoryEvent } from "../events/event-log.js";
import { changeLine } from "../memories/changes/change-line.js";
import { recordChanges } from "../memories/changes/record-changes.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf } from "../postgres/database-error.js";
import { type ErasedThread, type ErasureScope, findErasureScope } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import { scopeOf } from "../scope/scope-predicates.js";
import {
  discountMemories,
  type ErasableMemory,
  eraseMessages,
  eraseOwner,
  findErasableMemories,
  forgetAuditedWords,
  forgetConsentSources,
  forgetNews,
  forgetSources,
  isErased,
  lockOwnerRow,
} from "./erase-statements.js";
import {
  checkpointTables,
  type ErasureKeys,
  eraseRows,
  eventTables,
  memoryRecordTables,
  memoryTables,
  type RowCounts,
  recordTables,
  threadTables,
} from "./erasure-tables.js";

/** Deletes a scope, transaction by transaction. */
export interface Eraser {
  /** Deletes what there is, of the scope or of one thread of it; when nothing is left, an event says so. Whether nothing is left. */
  pass(scope: Scope, thread: ErasedThread | null): Promise<boolean>;
  /** The event, when something is left after all. */
  leaveTombstone(scope: Scope): Promise<void>;
  /** What was deleted so far. */
  result(): Omit<Forgotten, "complete">;
}

/** Threads locked in one transaction. */
const threadsAtOnce = 20;
/** More than one means that the scope's writers are busy; each lost against one that made progress. */
const mostDeadlocks = 10;

const everyRow = 2 ** 31 - 1;
const noRefs = sql`'{}'::bigint[]`;
const noKeys: ErasureKeys = {
  ...{ memories: noRefs, memoryIds: sql`'{}'::uuid[]` },
  ...{ threads: noRefs, checkpointThreads: sql`'{}'::text[]` },
};

/** An eraser that deletes at most `limit` rows of a table in one transaction, more only of what hangs on them. */
export function createEraser(
  db: Database,
  { limit, expected, onProgress, signal }: ForgetOptions & { limit: number; expected: number },
): Eraser {
  const removed: RowCounts = {};
  const shared = new Set<string>();
  let done = 0;
  onProgress?.({ done, total: expected });

  /** Transactions of `work` until one has nothing left to delete. False when others write faster than it deletes. */
  const exhaust = async (work: (tx: Connection) => Promise<RowCounts>) => {
    const mostTransactions = 20 + expected / Math.min(limit, threadsAtOnce / 2);
    for (let count = 0; count < mostTransactions; count++) {
      const before = done;
      signal?.throwIfAborted();
      for (const [table, count] of Object.entries(await transaction(db, work))) {
        if (count > 0) removed[table] = (removed[table] ?? 0) + count;
        done += count;
      }
      if (before === done) return true;
      onProgress?.({ done, total: Math.max(done, expected) });
    }
    return false;
  };

  const memories = async (scope: ErasureScope) => {
    const { ownerRef } = scope;
    if (ownerRef === null) return true;
    const tables = await existingTables(db, memoryTables);
    return exhaust(async (tx) => {
      // Every writer of memories begins with this lock, and so waits.
      await lockOwnerRow(tx, ownerRef);
      const found = await findErasableMemories(tx, scope, limit);
      if (found.length === 0) return {};
      const refs = found.map(({ ref }) => ref);
      const memoryIds = sql`${found.map(({ id }) => id)}::uuid[]`;
      const keys = { ...noKeys, memories: sql`${refs}::bigint[]`, memoryIds };
      const all = { keys, scope, limit: everyRow };
      const records = scope.thread ? await eraseRows(tx, memoryRecordTables, all) : {};
      if (scope.thread) await tellOfErased(tx, { scope, ownerRef, found });
      await discountMemories(tx, { ownerRef, memories: refs });
      return { ...records, ...(await eraseRows(tx, tables, all)) };
    });
  };

  const threads = async (scope: ErasureScope) => {
    const tables = [...(await existingTables(db, checkpointTables)), ...threadTables];
    return exhaust(async (tx) => {
      const group = await lockErasableThreads(tx, scope, threadsAtOnce);
      if (group.length === 0) return {};
      const refs = group.map(({ ref }) => ref);
      const names = await checkpointNamesOf(tx, { tenantId: scope.tenantId, threads: group });
      for (const id of names.shared) shared.add(id);
      const keys = {
        ...noKeys,
        threads: sql`${refs}::bigint[]`,
        checkpointThreads: sql`${names.own}::text[]`,
      };
      const counts = {
        ...(await eraseRows(tx, tables, { keys, scope, limit })),
        ...(await eraseMessages(tx, { threads: refs, limit })),
      };
      if (Object.values(counts).some((count) => count > 0)) return counts;
      if (scope.thread) await forgetWords(tx, scope, scope.thread.threadId);
      // By the thread all the rest is found: it goes when nothing else is left of it.
      return { thread: await eraseThreads(tx, group) };
    });
  };

  const records = async (scope: ErasureScope) => {
    const tables = scope.thread ? eventTables : recordTables;
    return exhaust((tx) => eraseRows(tx, tables, { keys: noKeys, scope, limit }));
  };

  const finish = (scope: Scope, erasure: ErasureScope) =>
    transaction(db, async (tx) => {
      if (erasure.ownerRef !== null) await lockOwnerRow(tx, erasure.ownerRef);
      if (!(await isErased(tx, erasure))) return false;
      const owners = await eraseOwner(tx, erasure);
      if (owners > 0) removed.owner = (removed.owner ?? 0) + owners;
      done += owners;
      if (done > 0) await insertEvent(tx, tombstone(scope, removed));
      return true;
    });

  return {
    async pass(requested, thread) {
      const scope = await findErasureScope(db, requested, thread);
      const exhausted = [await memories(scope), await threads(scope), await records(scope)];
      return exhausted.every(Boolean) && finish(requested, scope);
    },
    leaveTombstone: (scope) => insertEvent(db, tombstone(scope, removed)),
    result: () => ({ removed, total: done, sharedThreads: [...shared].sort() }),
  };
}

/** The owner stays, and so do the threads that were told of the memories: they are told that these are gone. */
async function tellOfErased(
  tx: Connection,
  { scope, ownerRef, found }: { scope: ErasureScope; ownerRef: string; found: readonly ErasableMemory[] },
): Promise<void> {
  const { tenantId, userId, appId } = scope;
  await forgetNews(tx, { ownerRef, ids: found.map(({ id }) => id) });
  await recordChanges(tx, {
    ownerRef: Number(ownerRef),
    scope: scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId }),
    ...{ actor: "forget", step: "forget" },
    changes: found.map(({ id, category, importance, active }) => ({
      ...{ memoryId: id, category, event: "DELETE", old: null, new: { state: "purged" }, similarity: null },
      news: active
        ? {
            event: "deleted",
            line: changeLine("deleted", { category, importance, text: "", seenCount: 1 }),
            importance,
          }
        : null,
    })),
  });
}

/** What stays of what was learned in a thread no longer says where, nor in which words. */
async function forgetWords(tx: Connection, scope: ErasureScope, threadId: string): Promise<void> {
  const { ownerRef } = scope;
  if (ownerRef === null) return;
  await forgetSources(tx, scope);
  await forgetConsentSources(tx, { ownerRef, threadId });
  await forgetAuditedWords(tx, { ownerRef, threadId });
}

/** Tried again after a deadlock: forgetting goes from threads to memories, some writers the other way. */
async function transaction<Result>(db: Database, work: (tx: Connection) => Promise<Result>): Promise<Result> {
  for (let deadlocks = 1; ; deadlocks++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      const deadlock = error instanceof Error && errorCodeOf(error.cause) === "40P01";
      if (!deadlock || deadlocks === mostDeadlocks) throw error;
    }
  }
}

/** That something was forgotten, when, and how much; not whose. */
function tombstone({ tenantId }: Scope, removed: RowCounts): MemoryEvent {
  const counts = Object.entries(removed).map(([table, count]) => `${table}=${count}`);
  return {
    scope: tenantId === undefined ? {} : { tenantId },
    ...{ step: "forget", op: "forget", status: "ok", detail: counts.join(" ") },
  };
}

/** How far a forgetting has come, in rows. */
export interface ForgetProgress {
  readonly done: number;
  /** Grows when others write meanwhile. */
  readonly total: number;
}

/** How to forget. */
export interface ForgetOptions {
  /** Only count what would go. @default false */
  readonly dryRun?: boolean | undefined;
  /** Rows of a table deleted in one transaction, 1 to 10000. @default 500 */
  readonly batchSize?: number | undefined;
  /** Told at the start and after each transaction. */
  readonly onProgress?: ((progress: ForgetProgress) => void) | undefined;
  /** Stops between two transactions, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

/** What was forgotten. */
export interface Forgotten {
  /** Rows deleted by this run, by table; tables without any are left out. */
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
  /**
   * Threads of which LangGraph checkpoints stay: a graph whose checkpointer keeps no tenants apart has written them, for
   * another tenant with the same thread id as well. They go when the last of them is forgotten.
   */
  readonly sharedThreads: readonly string[];
  /** False after a dry run that found something, and when others kept writing to the scope: run it again. */
  readonly complete: boolean;
}
