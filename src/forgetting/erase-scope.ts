import sql from "sql-template-tag";
import { checkpointNamesOf, existingTables } from "../checkpoints/checkpoint-names.js";
import { eraseThreads, lockErasableThreads } from "../conversation/list-threads.js";
import { insertEvent, type MemoryEvent } from "../events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { retryOn } from "../postgres/retry.js";
import {
  type ErasedThread,
  type ErasureScope,
  findErasureScope,
  takesNotes,
} from "../scope/erasure-scope.js";
import type { Scope } from "../scope/scope.js";
import { scopeOf } from "../scope/scope-predicates.js";
import { eraseNotes } from "./erase-notes.js";
import {
  eraseFound,
  eraseMessages,
  eraseOwner,
  findErasableItems,
  findErasableMemories,
  forgetting,
  forgetWords,
  isErased,
  lockOwnerRow,
  noLimit,
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

const threadsPerTransaction = 20;

interface Run extends Pick<ForgetOptions, "onProgress" | "signal"> {
  readonly db: Database;
  readonly limit: number;
  readonly expected: number;
  readonly removed: RowCounts;
  readonly shared: Set<string>;
  done: number;
}

/** Deletes at most `limit` rows of a table per transaction, and all their dependents. */
export function createEraser(
  db: Database,
  options: ForgetOptions & { readonly limit: number; readonly expected: number },
) {
  const run: Run = { ...options, db, removed: {}, shared: new Set(), done: 0 };
  run.onProgress?.({ done: 0, total: run.expected });
  return {
    /**
     * Deletes the data of the scope, or of one thread. Returns whether nothing is left, and then
     * writes an event.
     */
    async pass(requested: Scope, thread: ErasedThread | null): Promise<boolean> {
      const scope = await findErasureScope(db, requested, thread);
      const records = scope.thread ? eventTables : recordTables;
      const exhausted = [
        await eraseMemories(run, scope),
        await eraseConversations(run, scope),
        await eraseItems(run, scope),
        await exhaust(run, (tx) =>
          eraseRows(tx, records, { keys: noKeys, scope, limit: run.limit }),
        ),
      ];
      return exhausted.every(Boolean) && finish(run, requested, scope);
    },
    /** Writes the event although something is left. */
    leaveTombstone: (scope: Scope) => insertEvent(db, tombstone(scope, run.removed)),
    result: () => ({
      removed: run.removed,
      total: run.done,
      sharedThreads: [...run.shared].sort(),
    }),
  };
}

/**
 * Repeats `work` until nothing is left to delete. False when others write faster than it deletes.
 */
async function exhaust(run: Run, work: (tx: Connection) => Promise<RowCounts>): Promise<boolean> {
  const mostTransactions = 20 + run.expected / Math.min(run.limit, threadsPerTransaction / 2);
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
    // Every writer of memories takes this lock first.
    await lockOwnerRow(tx, ownerRef);
    const found = await findErasableMemories(tx, scope, run.limit);
    if (found.length === 0) return {};
    const { tenantId, userId, appId } = scope;
    const owner = scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId });
    // A thread's owner stays, with its change log.
    const audit = scope.thread ? forgetting : null;
    return eraseFound(tx, { scope, owner, ownerRef, found, tables, audit });
  });
}

async function eraseConversations(run: Run, scope: ErasureScope): Promise<boolean> {
  const { limit } = run;
  const tables = [...(await existingTables(run.db, checkpointTables)), ...threadTables];
  const noteTables = await existingTables(run.db, memoryTables);
  return exhaust(run, async (tx) => {
    const group = await lockErasableThreads(tx, scope, threadsPerTransaction);
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
    // The lock is for memories learned there, which lose their thread.
    if (scope.ownerRef !== null) await lockOwnerRow(tx, scope.ownerRef);
    if (scope.thread) await forgetWords(tx, scope, scope.thread.threadId);
    // Workers have lost their tasks on these threads, so no more notes follow.
    const notes = takesNotes(scope)
      ? await eraseNotes(tx, { threads: refs, scope, tables: noteTables })
      : {};
    const sources = await eraseRows(tx, noteSourceTables, { keys, scope, limit: noLimit });
    // Last, since the other rows are found by their thread.
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
    return eraseRows(tx, tables, { keys, scope, limit: noLimit });
  });
}

/**
 * Deletes the owner and writes the event, unless something was written meanwhile. Returns whether
 * nothing is left.
 */
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

/** Retries deadlocks: forgetting locks threads before memories, some writers do the opposite. */
function transaction<Result>(
  db: Database,
  work: (tx: Connection) => Promise<Result>,
): Promise<Result> {
  return retryOn(["40P01"], () => db.transaction(work), {
    most: 10,
    busy: "Not all was forgotten: others kept writing to the scope. What was deleted stays deleted; run it again.",
  });
}

/** Names no user and no app. */
function tombstone({ tenantId }: Scope, removed: RowCounts): MemoryEvent {
  const scope = tenantId === undefined ? {} : { tenantId };
  const counts = Object.entries(removed).map(([table, count]) => `${table}=${count}`);
  return { scope, step: "forget", op: "forget", status: "ok", detail: counts.join(" ") };
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
  /** Stops between transactions, with its reason as the error; run it again to continue. */
  readonly signal?: AbortSignal | undefined;
}

export interface Forgotten {
  /** Rows deleted by this run, by table; only tables with any. */
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
  /**
   * Threads whose checkpoints stay: a checkpointer without tenants wrote them for another tenant's
   * thread of the same id too. They are deleted with the last such thread.
   */
  readonly sharedThreads: readonly string[];
  /**
   * False after a dry run that found something, and when others kept writing to the scope: run it
   * again.
   */
  readonly complete: boolean;
}
