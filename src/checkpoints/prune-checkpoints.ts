import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { findErasableThreads, findThreadsOfId } from "../conversation/list-threads.js";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { findErasureScope } from "../scope/erasure-scope.js";
import {
  parseScopeIn,
  parseThreadId,
  type Scope,
  scopeField,
  threadField,
} from "../scope/scope.js";
import { abortSignal, parseInput, spanMs, storableDate } from "../text/parse-input.js";
import { checkpointNamesOf } from "./checkpoint-names.js";
import {
  deleteCheckpoints,
  deleteUnusedValues,
  findCheckpoints,
  nextName,
} from "./checkpoint-statements.js";
import { supersededCheckpoints } from "./superseded-checkpoints.rule.js";

interface PruneOptions {
  /** Checkpoints kept for each thread, at least 1; what they need stays too. */
  readonly keepLast: number;
  /** Only those older than this date, or age in milliseconds. @default any age */
  readonly olderThan?: Date | number | undefined;
  /**
   * Only threads of this user, user within an app, or app.
   * @default all, including threads unknown to memory
   */
  readonly scope?: Scope;
  readonly threadId?: string | undefined;
  /** Stops between two statements, with its reason as the error; run it again to continue. */
  readonly signal?: AbortSignal | undefined;
}

export interface Pruned {
  readonly threads: number;
  readonly checkpoints: number;
  readonly writes: number;
  /** Values of channels that no checkpoint refers to any more. */
  readonly blobs: number;
}

export interface CheckpointsApi {
  /**
   * Deletes superseded checkpoints of `PostgresSaver`; kept ones, their subgraphs, and runs from
   * them stay the same. With `memory.checkpointer()` it may run beside graphs: only time travel to
   * a checkpoint that is being deleted can fail. With LangGraph's own saver, prune while no graph
   * runs.
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  prune(options: PruneOptions): Promise<Pruned>;
}

const optionsSchema = z.strictObject({
  scope: scopeField,
  threadId: threadField,
  signal: abortSignal.optional(),
  keepLast: z.int("keepLast must be a whole number").min(1, "keepLast must be at least 1"),
  olderThan: z.union([storableDate, spanMs], "olderThan must be a date or milliseconds").optional(),
});

/** Rows deleted by one statement: some hundred milliseconds. */
const rowsAtOnce = 500;

export function createCheckpointsApi({ patient: db, mayCrossTenants }: Database): CheckpointsApi {
  return {
    async prune(options) {
      const { keepLast, olderThan, threadId, signal } = parseInput(
        optionsSchema,
        options,
        "pruning",
      );
      const scope = parseScopeIn(options) ?? null;
      // LangGraph's tables have no row-level security.
      if (scope === null && !(await mayCrossTenants())) {
        const message =
          "Only the role that owns the tables prunes checkpoints of all tenants. Pass a scope.";
        throw new MemoryError("PERMISSION_DENIED", message);
      }
      const pruned = { threads: 0, checkpoints: 0, writes: 0, blobs: 0 };
      const onlyThread = threadId === undefined ? undefined : parseThreadId(threadId);
      for await (const name of namesOf(db, scope, onlyThread)) {
        pruned.threads += 1;
        const found = await findCheckpoints(db, name, timeOf(db, olderThan));
        const doomed = supersededCheckpoints(found, keepLast);
        for (let from = 0; from < doomed.length; from += rowsAtOnce) {
          signal?.throwIfAborted();
          const gone = await deleteCheckpoints(db, name, doomed.slice(from, from + rowsAtOnce));
          pruned.checkpoints += gone.checkpoints;
          pruned.writes += gone.writes;
        }
        // Also deletes what an interrupted run left.
        for (let rows = rowsAtOnce; rows === rowsAtOnce; pruned.blobs += rows) {
          signal?.throwIfAborted();
          rows = await deleteUnusedValues(db, name, rowsAtOnce);
        }
      }
      return pruned;
    },
  };
}

async function* namesOf(
  db: Connection,
  scope: Scope | null,
  threadId?: string,
): AsyncGenerator<string> {
  if (scope) {
    const erasure = await findErasureScope(db, scope);
    const all = await findErasableThreads(db, erasure);
    const threads =
      threadId === undefined ? all : all.filter((thread) => thread.threadId === threadId);
    yield* (await checkpointNamesOf(db, { tenantId: erasure.tenantId, threads })).own;
  } else if (threadId !== undefined) {
    const threads = await findThreadsOfId(db, threadId);
    yield* new Set([threadId, ...threads.flatMap((thread) => thread.checkpointThreadId ?? [])]);
  } else {
    for (let name = await nextName(db, ""); name !== undefined; name = await nextName(db, name))
      yield name;
  }
}

function timeOf(db: Connection, olderThan: Date | number | undefined): Sql {
  if (olderThan === undefined) return sql`'infinity'::timestamptz`;
  if (olderThan instanceof Date) return sql`${olderThan.toISOString()}::timestamptz`;
  return sql`${db.now()} - ${olderThan}::float8 * interval '1 millisecond'`;
}
