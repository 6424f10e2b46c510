import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { abortSignal, parseInput, spanMs, storableDate } from "../input/parse-input.js";
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
import { findErasableThreads, findThreadsOfId } from "../transcript/list-threads.js";
import { checkpointNamesOf } from "./checkpoint-names.js";
import {
  type CheckpointRow,
  supersededCheckpoints,
  withBranchEnds,
} from "./superseded-checkpoints.rule.js";

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
   * @example
   * ```ts
   * const { checkpoints } = await memory.checkpoints.prune({ scope: { userId: "ana" }, keepLast: 10 });
   * ```
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
const rowsPerStatement = 500;

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
        const gone = await pruneThread(db, name, { keepLast, olderThan, signal });
        pruned.checkpoints += gone.checkpoints;
        pruned.writes += gone.writes;
        pruned.blobs += gone.blobs;
      }
      return pruned;
    },
  };
}

interface PruneThread extends Pick<PruneOptions, "keepLast" | "olderThan" | "signal"> {
  /** Whether the last checkpoint of each branch stays. @default false */
  readonly keepBranches?: boolean;
}

/** Deletes what a thread's newest checkpoints do not need, in statements of bounded size. */
export async function pruneThread(
  db: Connection,
  name: string,
  { keepLast, olderThan, keepBranches = false, signal }: PruneThread,
): Promise<Omit<Pruned, "threads">> {
  const pruned = { checkpoints: 0, writes: 0, blobs: 0 };
  const found = await findCheckpoints(db, name, timeOf(db, olderThan));
  const doomed = supersededCheckpoints(keepBranches ? withBranchEnds(found) : found, keepLast);
  for (let from = 0; from < doomed.length; from += rowsPerStatement) {
    signal?.throwIfAborted();
    const gone = await deleteSuperseded(db, name, doomed.slice(from, from + rowsPerStatement));
    pruned.checkpoints += gone.checkpoints;
    pruned.writes += gone.writes;
  }
  // Also deletes what an interrupted run left.
  for (let rows = rowsPerStatement; rows === rowsPerStatement; pruned.blobs += rows) {
    signal?.throwIfAborted();
    rows = await deleteUnusedValues(db, name);
  }
  return pruned;
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

async function nextName(db: Connection, after: string): Promise<string | undefined> {
  const [row] = await db.query<{ name: string }>(sql`
    select c.thread_id as name from ${db.schema}.checkpoints c where c.thread_id > ${after} order by 1 limit 1`);
  return row?.name;
}

/** `recent`: after `before`. Older LangGraph writes to delta channels without a version. */
export async function findCheckpoints(
  db: Connection,
  name: string,
  before: Sql,
): Promise<CheckpointRow[]> {
  const { schema } = db;
  return db.query<CheckpointRow>(sql`
    with delta as materialized (
      select k.ns, k.channel, (
        select min(w.checkpoint_id) from ${schema}.checkpoint_writes w
        where w.thread_id = ${name} and w.checkpoint_ns = k.ns and w.channel = k.channel
      ) as written
      from (
        select distinct c.checkpoint_ns, jsonb_object_keys(c.metadata -> 'counters_since_delta_snapshot')
        from ${schema}.checkpoints c where c.thread_id = ${name}
      ) k (ns, channel)
    )
    select c.checkpoint_ns as ns, c.checkpoint_id as id, c.parent_checkpoint_id as "parentId",
      coalesce(c.metadata ->> 'source', '') in ('update', 'fork') as forked,
      coalesce((c.checkpoint ->> 'ts')::timestamptz > ${before}, false) as recent,
      coalesce((c.checkpoint ->> 'v')::int, 1) as format,
      exists (
        select from delta d
        where d.ns = c.checkpoint_ns and (c.checkpoint -> 'channel_versions' ? d.channel or d.written < c.checkpoint_id) and (
          select b.type from ${schema}.checkpoint_blobs b
          where b.thread_id = c.thread_id and b.checkpoint_ns = c.checkpoint_ns and b.channel = d.channel
            and b.version = c.checkpoint -> 'channel_versions' ->> d.channel and b.type <> 'empty' limit 1
        ) is null
      ) as replays
    from ${schema}.checkpoints c where c.thread_id = ${name}`);
}

export async function deleteSuperseded(
  db: Connection,
  name: string,
  rows: readonly CheckpointRow[],
) {
  const { schema } = db;
  const doomed = (row: Sql) => sql`using k
    where ${row}.thread_id = ${name} and ${row}.checkpoint_ns = k.ns and ${row}.checkpoint_id = k.id returning 1`;
  const [row] = await db.query<{ checkpoints: number; writes: number }>(sql`
    with k as (
      select * from unnest(${rows.map(({ ns }) => ns)}::text[], ${rows.map(({ id }) => id)}::text[]) k (ns, id)
    ),
    gone as (delete from ${schema}.checkpoints c ${doomed(sql`c`)}),
    written as (delete from ${schema}.checkpoint_writes w ${doomed(sql`w`)})
    select (select count(*)::int from gone) as checkpoints, (select count(*)::int from written) as writes`);
  return row ?? { checkpoints: 0, writes: 0 };
}

/** At most `rowsAtOnce`. */
async function deleteUnusedValues(db: Connection, name: string): Promise<number> {
  const { schema } = db;
  const rows = await db.query(sql`
    with used as materialized (
      select c.checkpoint_ns, v.channel, v.version from ${schema}.checkpoints c
      cross join lateral jsonb_each_text(c.checkpoint -> 'channel_versions') v (channel, version)
      where c.thread_id = ${name}
    )
    delete from ${schema}.checkpoint_blobs d where d.ctid = any (array(
      select b.ctid from ${schema}.checkpoint_blobs b
      left join used u on u.checkpoint_ns = b.checkpoint_ns and u.channel = b.channel and u.version = b.version
      where b.thread_id = ${name} and u.version is null limit ${rowsPerStatement}
    )) returning 1`);
  return rows.length;
}
