import sql from "sql-template-tag";
import { checkpointNamesOf, existingTables } from "../checkpoints/checkpoint-names.js";
import { eraseThreads, lockErasableThreads } from "../conversation/list-threads.js";
import { insertEvent, type MemoryEvent } from "../events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { retryOn } from "../postgres/retry.js";
import { type ErasedThread, type ErasureScope, findErasureScope, takesNotes } from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import { scopeOf } from "../scope/scope-predicates.js";
import { eraseNotes } from "./erase-notes.js";
import {
  eraseFound,
  eraseMessages,
  eraseOwner,
  everyRow,
  findErasableItems,
  findErasableMemories,
  forgetting,
  forgetWords,
  isErased,
  lockOwnerRow,
} from "./erase-statements.js";
import {
  checkpointTables,
  eraseRows,
  eventTables,
  memoryTables,
  noKeys,
  noteSourceTables,
  type RowCounts,
  recordTables,
  storeTables,
  threadTables,
} from "./erasure-tables.js";

const threadsAtOnce = 20;

interface Run extends Pick<ForgetOptions, "onProgress" | "signal"> {
  readonly db: Database;
  readonly limit: number;
  readonly expected: number;
  readonly removed: RowCounts;
  readonly shared: Set<string>;
  done: number;
}

/** Deletes at most `limit` rows of a table per transaction, more only of dependents. */
export function createEraser(
  db: Database,
  options: ForgetOptions & { readonly limit: number; readonly expected: number },
) {
  const run: Run = { ...options, db, removed: {}, shared: new Set(), done: 0 };
  run.onProgress?.({ done: 0, total: run.expected });
  return {
    /** Deletes what the scope, or one thread of it, has. Returns whether nothing is left; then an event says so. */
    async pass(requested: Scope, thread: ErasedThread | null): Promise<boolean> {
      const scope = await findErasureScope(db, requested, thread);
      const exhausted = [
        await eraseMemories(run, scope),
        await eraseConversations(run, scope),
        await eraseItems(run, scope),
        await eraseRecords(run, scope),
      ];
      return exhausted.every(Boolean) && finish(run, requested, scope);
    },
    /** Writes that event when something is left. */
    leaveTombstone: (scope: Scope) => insertEvent(db, tombstone(scope, run.removed)),
    result: () => ({ removed: run.removed, total: run.done, sharedThreads: [...run.shared].sort() }),
  };
}

/** Repeats `work` until nothing is left to delete. False when others write faster than it deletes. */
async function exhaust(run: Run, work: (tx: Connection) => Promise<RowCounts>): Promise<boolean> {
  const mostTransactions = 20 + run.expected / Math.min(run.limit, threadsAtOnce / 2);
  for (let count = 0; count < mostTransactions; count++) {
    run.signal?.throwIfAborted();
    const erased = Object.entries(await transaction(run.db, work)).filter(([, rows]) => rows > 0);
    if (erased.length === 0) return true;
    for (const [table, rows] of erased) countErased(run, table, rows);
    run.onProgress?.({ done: run.done, total: Math.max(run.done, run.expected) });
  }
  return false;
}

function countErased(run: Run, table: string, rows: number): void {
  run.removed[table] = (run.removed[table] ?? 0) + rows;
  run.done += rows;
}

async function eraseMemories(run: Run, scope: ErasureScope): Promise<boolean> {
  const { ownerRef } = scope;
  if (ownerRef === null) return true;
  const tables = await existingTables(run.db, memoryTables);
  return exhaust(run, async (tx) => {
    // Every writer of memories begins with this lock.
    await lockOwnerRow(tx, ownerRef);
    const found = await findErasableMemories(tx, scope, run.limit);
    if (found.length === 0) return {};
    const { tenantId, userId, appId } = scope;
    const whose = scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId });
    // A thread's owner stays, with its change log.
    const told = scope.thread ? forgetting : null;
    return eraseFound(tx, { scope, whose, ownerRef, found, tables, told });
  });
}

async function eraseConversations(run: Run, scope: ErasureScope): Promise<boolean> {
  const { limit } = run;
  const tables = [...(await existingTables(run.db, checkpointTables)), ...threadTables];
  const ofNotes = await existingTables(run.db, memoryTables);
  return exhaust(run, async (tx) => {
    const group = await lockErasableThreads(tx, scope, threadsAtOnce);
    if (group.length === 0) return {};
    const refs = group.map(({ ref }) => ref);
    const names = await checkpointNamesOf(tx, { tenantId: scope.tenantId, threads: group });
    for (const id of names.shared) run.shared.add(id);
    const checkpointThreads = sql`${names.own}::text[]`;
    const keys = { ...noKeys, threads: sql`${refs}::bigint[]`, checkpointThreads };
    const counts = {
      ...(await eraseRows(tx, tables, { keys, scope, limit })),
      ...(await eraseMessages(tx, { threads: refs, limit })),
    };
    if (Object.values(counts).some((count) => count > 0)) return counts;
    // Memories learned there lose their thread, under their owner's lock.
    if (scope.ownerRef !== null) await lockOwnerRow(tx, scope.ownerRef);
    if (scope.thread) await forgetWords(tx, scope, scope.thread.threadId);
    // A worker on a note of these threads has lost its task by now: no more notes come.
    const notes = takesNotes(scope) ? await eraseNotes(tx, { threads: refs, scope, tables: ofNotes }) : {};
    const sources = await eraseRows(tx, noteSourceTables, { keys, scope, limit: everyRow });
    // Last, since the thread finds all the rest.
    return { ...notes, ...sources, thread: await eraseThreads(tx, group) };
  });
}

async function eraseItems(run: Run, scope: ErasureScope): Promise<boolean> {
  if (scope.thread) return true;
  const tables = await existingTables(run.db, storeTables);
  return exhaust(run, async (tx) => {
    const found = await findErasableItems(tx, scope, run.limit);
    if (found.length === 0) return {};
    const keys = { ...noKeys, items: sql`${found}::bigint[]` };
    return eraseRows(tx, tables, { keys, scope, limit: everyRow });
  });
}

async function eraseRecords(run: Run, scope: ErasureScope): Promise<boolean> {
  const tables = scope.thread ? eventTables : recordTables;
  return exhaust(run, (tx) => eraseRows(tx, tables, { keys: noKeys, scope, limit: run.limit }));
}

/** Deletes the owner and writes the event, unless something was written meanwhile. Returns whether nothing is left. */
async function finish(run: Run, requested: Scope, scope: ErasureScope): Promise<boolean> {
  return transaction(run.db, async (tx) => {
    if (scope.ownerRef !== null) await lockOwnerRow(tx, scope.ownerRef);
    if (!(await isErased(tx, scope))) return false;
    const owners = await eraseOwner(tx, scope);
    if (owners > 0) countErased(run, "owner", owners);
    if (run.done > 0) await insertEvent(tx, tombstone(requested, run.removed));
    return true;
  });
}

/** Retries deadlocks: forgetting locks threads before memories, some writers the other way. */
function transaction<Result>(db: Database, work: (tx: Connection) => Promise<Result>): Promise<Result> {
  return retryOn(["40P01"], () => db.transaction(work), {
    most: 10,
    busy: "Not all was forgotten: others kept writing to the scope. What was deleted stays so; run it again.",
  });
}

/** Without whose it was. */
function tombstone({ tenantId }: Scope, removed: RowCounts): MemoryEvent {
  const counts = Object.entries(removed).map(([table, count]) => `${table}=${count}`);
  return {
    scope: tenantId === undefined ? {} : { tenantId },
    step: "forget",
    op: "forget",
    status: "ok",
    detail: counts.join(" "),
  };
}

/** Progress, in rows. */
export interface ForgetProgress {
  readonly done: number;
  /** Grows when others write meanwhile. */
  readonly total: number;
}

export interface ForgetOptions {
  /** Only count what would go. @default false */
  readonly dryRun?: boolean | undefined;
  /** Rows per table and transaction, 1 to 10000. @default 500 */
  readonly batchSize?: number | undefined;
  /** Called at the start and after each transaction. */
  readonly onProgress?: ((progress: ForgetProgress) => void) | undefined;
  /** Stops between transactions, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

export interface Forgotten {
  /** Rows deleted by this run, by table; only tables with any. */
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
  /**
   * Threads whose checkpoints stay: a checkpointer without tenants has written them for another tenant with the same
   * thread id too. They go when the last of them is forgotten.
   */
  readonly sharedThreads: readonly string[];
  /** False after a dry run that found something, and when others kept writing to the scope: run it again. */
  readonly complete: boolean;
}
