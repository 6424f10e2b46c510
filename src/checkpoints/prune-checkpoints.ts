import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { parseScopeIn, type Scope, scopeField } from "../scope/scope.js";
import { parseThreadId } from "../scope/thread-id.js";
import { abortSignal, listener, parseInput, spanMs, storableDate } from "../text/parse-input.js";
import {
  findCheckpoints,
  findWaitingThreads,
  pruneBlobs,
  pruneCheckpoints,
  type RowsAndBytes,
  type ThreadCheckpoint,
} from "./checkpoint-statements.js";
import { checkpointThreads } from "./checkpoint-threads.js";
import { supersededCheckpoints } from "./superseded-checkpoints.js";

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
  threadId: z.unknown().optional(),
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
