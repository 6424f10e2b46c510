import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { findThreadsElsewhere } from "../conversation/claim-thread.js";
import { type ErasableThread, findErasableThreads, findThreadsOfId } from "../conversation/list-threads.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import { parseScopeIn, parseThreadId, type Scope, scopeField, threadField } from "../scope/scope.js";
import { abortSignal, listener, parseInput, spanMs, storableDate } from "../text/parse-input.js";
import {
  checkpointTableNames,
  existingTables,
  findCheckpointed,
  findCheckpoints,
  findCheckpointThreads,
  findWaitingThreads,
  pruneBlobs,
  pruneCheckpoints,
  type RowsAndBytes,
  type ThreadCheckpoint,
} from "./checkpoint-statements.js";
import { supersededCheckpoints } from "./superseded-checkpoints.rule.js";

/** Where LangGraph's checkpoints of threads are, as their column `thread_id` says it. */
export interface CheckpointNames {
  /** Those of the threads alone. */
  readonly own: readonly string[];
  /** Ids of threads under which checkpoints of other tenants lie as well: they hold the state of both. */
  readonly shared: readonly string[];
}

/**
 * Where the checkpoints of a tenant's threads are: under their own names, and under the thread ids, unless another
 * tenant uses these as well. There are those of runs that named no user, or had another checkpointer.
 */
export async function checkpointNamesOf(
  db: Connection,
  { tenantId, threads }: { tenantId: string; threads: readonly ErasableThread[] },
): Promise<CheckpointNames> {
  if (
    (
      await existingTables(
        db,
        checkpointTableNames.map((table) => ({ table })),
      )
    ).length === 0
  )
    return { own: [], shared: [] };
  const names = threads.flatMap(({ checkpointThreadId }) => checkpointThreadId ?? []);
  const unnamed = threads.flatMap(({ threadId, checkpointThreadId }) =>
    checkpointThreadId === threadId ? [] : [threadId],
  );
  const elsewhere = await findThreadsElsewhere(db, { tenantId, threadIds: unnamed });
  const taken = new Set(elsewhere.flatMap(({ id, tenants }) => (tenants > 0 ? [id] : [])));
  const mixed = elsewhere.flatMap(({ id, held }) => (taken.has(id) && !held ? [id] : []));
  return {
    own: [...names, ...unnamed.filter((id) => !taken.has(id))],
    shared: mixed.length === 0 ? [] : await findCheckpointed(db, mixed),
  };
}

/** Threads looked at together. */
const threadsAtOnce = 20;

/** Names under which there may be checkpoints, some at a time: those of one thread, of a scope, or all. */
async function* checkpointThreads(
  db: Connection,
  { scope, threadId }: { scope: Scope | null; threadId: string | null },
): AsyncGenerator<readonly string[]> {
  if (scope) yield* threadsOfScope(db, scope, threadId);
  else if (threadId !== null) yield await namesOfId(db, threadId);
  else yield* allThreads(db);
}

async function namesOfId(db: Connection, threadId: string): Promise<string[]> {
  const threads = await findThreadsOfId(db, threadId);
  return [...new Set([threadId, ...threads.flatMap(({ checkpointThreadId }) => checkpointThreadId ?? [])])];
}

async function* allThreads(db: Connection): AsyncGenerator<string[]> {
  for (let after = ""; ; ) {
    const group = await findCheckpointThreads(db, { after, limit: threadsAtOnce });
    const last = group.at(-1);
    if (last === undefined) return;
    yield group;
    after = last;
  }
}

async function* threadsOfScope(
  db: Connection,
  requested: Scope,
  threadId: string | null,
): AsyncGenerator<readonly string[]> {
  const scope = await findErasureScope(db, requested);
  const { tenantId } = scope;
  for (let after = "0"; ; ) {
    const page = await findErasableThreads(db, scope, { after, limit: threadsAtOnce });
    const last = page.at(-1);
    if (last === undefined) return;
    const threads = page.filter((thread) => threadId === null || thread.threadId === threadId);
    yield (await checkpointNamesOf(db, { tenantId, threads })).own;
    after = last.ref;
  }
}

/** Which checkpoints may go. */
export interface PruneOptions {
  /** How many of each thread stay, at least 1; with them all that they need. */
  readonly keepLast: number;
  /** Only those older than this: a date, or an age in milliseconds. @default of any age */
  readonly olderThan?: Date | number | undefined;
  /** Only threads of this user, user within an app, or app. @default all, also those that memory does not know */
  readonly scope?: Scope;
  /** Only this thread. */
  readonly threadId?: string | undefined;
  /** Only count what would go. @default false */
  readonly dryRun?: boolean | undefined;
  /** Checkpoints, or values, deleted in one transaction, 1 to 10000. @default 500 */
  readonly batchSize?: number | undefined;
  /** Told after each transaction. */
  readonly onProgress?: ((progress: Pruned) => void) | undefined;
  /** Stops between two transactions, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

/** What was pruned. */
export interface Pruned {
  /** Threads looked at. */
  readonly threads: number;
  /** Threads left alone: they wait for an answer to an interrupt, or a run of theirs has stopped half-way. */
  readonly waiting: number;
  readonly checkpoints: number;
  /** What was written at those checkpoints. */
  readonly writes: number;
  /** Values of channels that no checkpoint refers to any more. */
  readonly blobs: number;
  /** All of these, as stored, indexes apart. */
  readonly bytes: number;
}

/** Retention of LangGraph's checkpoints. */
export interface CheckpointsApi {
  /**
   * Deletes the checkpoints of `PostgresSaver` that are superseded, and says how much that was.
   *
   * What stays is exactly as it was: the state of every checkpoint that is kept, of the graphs within it, and runs
   * that start from it. In short transactions, beside running graphs; only travelling back to a checkpoint in the
   * moment in which it goes can fail.
   *
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  prune(options: PruneOptions): Promise<Pruned>;
}

const optionsSchema = z.strictObject({
  scope: scopeField,
  threadId: threadField,
  dryRun: z.boolean().default(false),
  onProgress: listener<(progress: Pruned) => void>().optional(),
  signal: abortSignal.optional(),
  keepLast: z.int("keepLast must be a whole number").min(1, "keepLast must be at least 1"),
  olderThan: z.union([storableDate, spanMs], "olderThan must be a date or milliseconds").optional(),
  batchSize: z.int().min(1).max(10_000).default(500),
});

/** The `CheckpointsApi` on `db`. */
export function createCheckpointsApi(db: Database): CheckpointsApi {
  return { prune: (options) => prune(db, options) };
}

async function prune(db: Database, options: PruneOptions): Promise<Pruned> {
  const settings = parseInput(optionsSchema, options, "pruning");
  const only = {
    scope: parseScopeIn(options) ?? null,
    threadId: settings.threadId === undefined ? null : parseThreadId(settings.threadId),
  };
  const pruned = { threads: 0, waiting: 0, checkpoints: 0, writes: 0, blobs: 0, bytes: 0 };
  for await (const group of checkpointThreads(db, only)) {
    settings.signal?.throwIfAborted();
    const waiting = new Set(await findWaitingThreads(db, group));
    const threadIds = group.filter((id) => !waiting.has(id));
    pruned.threads += group.length;
    pruned.waiting += waiting.size;
    for await (const gone of pruneThreads(db, threadIds, settings)) {
      for (const name of ["checkpoints", "writes", "blobs"] as const) {
        pruned[name] += gone[name]?.rows ?? 0;
        pruned.bytes += gone[name]?.bytes ?? 0;
      }
      settings.onProgress?.({ ...pruned });
      settings.signal?.throwIfAborted();
    }
  }
  return pruned;
}

type Gone = Partial<Record<"checkpoints" | "writes" | "blobs", RowsAndBytes>>;

/** What each transaction deleted, or would delete. */
async function* pruneThreads(
  db: Database,
  threadIds: readonly string[],
  options: z.output<typeof optionsSchema>,
): AsyncGenerator<Gone> {
  const { batchSize, dryRun } = options;
  const doomed = await findSuperseded(db, threadIds, options);
  for (let from = 0; from < doomed.length; from += batchSize) {
    const keys = doomed.slice(from, from + batchSize);
    yield await db.transaction((tx) => pruneCheckpoints(tx, { keys, dryRun }));
  }
  if (dryRun) yield { blobs: await pruneBlobs(db, { threadIds, without: doomed, limit: everyRow, dryRun }) };
  // After the last checkpoint that refers to them; also what a run left that was interrupted.
  for (let rows = dryRun ? 0 : batchSize; rows === batchSize; ) {
    const blobs = await pruneBlobs(db, { threadIds, without: [], limit: batchSize, dryRun });
    yield { blobs };
    rows = blobs.rows;
  }
}

const everyRow = 2 ** 31 - 1;

async function findSuperseded(
  db: Connection,
  threadIds: readonly string[],
  { keepLast, olderThan }: z.output<typeof optionsSchema>,
): Promise<ThreadCheckpoint[]> {
  const nodes = await findCheckpoints(db, { threadIds, before: timeOf(db, olderThan) });
  const byThread = new Map<string, ThreadCheckpoint[]>(threadIds.map((id) => [id, []]));
  for (const node of nodes) byThread.get(node.threadId)?.push(node);
  return [...byThread.values()].flatMap((thread) => supersededCheckpoints(thread, keepLast));
}

function timeOf(db: Connection, olderThan: Date | number | undefined): Sql {
  if (olderThan === undefined) return sql`'infinity'::timestamptz`;
  if (olderThan instanceof Date) return sql`${olderThan.toISOString()}::timestamptz`;
  return sql`${db.now()} - ${olderThan}::float8 * interval '1 millisecond'`;
}
