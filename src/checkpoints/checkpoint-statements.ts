import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { CheckpointNode } from "./superseded-checkpoints.rule.js";

/** LangGraph's tables: a checkpoint before its blobs, so that a reader never finds one that lacks some. */
export const checkpointTableNames = ["checkpoints", "checkpoint_writes", "checkpoint_blobs"] as const;

/** Which of `tables` this schema has: vectors' and LangGraph's are optional. */
export async function existingTables<Table extends { readonly table: string }>(
  db: Connection,
  tables: readonly Table[],
): Promise<Table[]> {
  const names = tables.map(({ table }) => table);
  const rows = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_catalog.pg_class c
    where c.relnamespace = ${db.schema.text}::regnamespace and c.relname = any (${names})`);
  const found = new Set(rows.map(({ name }) => name));
  return tables.filter(({ table }) => found.has(table));
}

/** A checkpoint of a thread. */
export interface ThreadCheckpoint extends CheckpointNode {
  readonly threadId: string;
}

/** Up to `limit` ids of threads that have checkpoints, after `after`; in the database's order. */
export async function findCheckpointThreads(
  db: Connection,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  // One look into the index for each thread: `distinct` would read every checkpoint.
  const next = (than: Sql) => sql`
    select c.thread_id from ${db.schema}.checkpoints c where c.thread_id > ${than} order by c.thread_id limit 1`;
  const rows = await db.query<{ id: string }>(sql`
    with recursive t (id) as (
      (${next(sql`${after}`)})
      union all select (${next(sql`t.id`)}) from t where t.id is not null
    )
    select id from t where id is not null limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Those of `threadIds` that have checkpoints. */
export async function findCheckpointed(db: Connection, threadIds: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select t.id from unnest(${threadIds}::text[]) t (id)
    where exists (select from ${db.schema}.checkpoints c where c.thread_id = t.id)`);
  return rows.map(({ id }) => id);
}

/**
 * Those of `threadIds` whose newest checkpoint waits: for an answer to an interrupt, or for a run to go on.
 *
 * What is to run next lies in channels that are emptied when it has run. A run that failed does not wait.
 */
export async function findWaitingThreads(db: Connection, threadIds: readonly string[]): Promise<string[]> {
  const { schema } = db;
  const rows = await db.query<{ id: string }>(sql`
    select t.id from unnest(${threadIds}::text[]) t (id)
    cross join lateral (
      select * from ${schema}.checkpoints c
      where c.thread_id = t.id and c.checkpoint_ns = '' order by c.checkpoint_id desc limit 1
    ) newest
    cross join lateral (
      select coalesce(bool_or(w.channel = '__interrupt__'), false) as interrupted,
        coalesce(bool_or(w.channel = '__error__'), false) as failed
      from ${schema}.checkpoint_writes w
      where w.thread_id = t.id and w.checkpoint_ns = '' and w.checkpoint_id = newest.checkpoint_id
    ) w
    where w.interrupted or (not w.failed and exists (
      select from jsonb_each_text(newest.checkpoint -> 'channel_versions') v (channel, version)
      join ${schema}.checkpoint_blobs b
        on b.thread_id = t.id and b.checkpoint_ns = '' and b.channel = v.channel and b.version = v.version
      where b.type <> 'empty' and (
        v.channel = '__start__' or v.channel like 'branch:to:%'
        or ((v.channel = '__pregel_tasks' or v.channel like 'join:%') and b.blob not in ('[]', '[[],[]]'))
      )
    ))`);
  return rows.map(({ id }) => id);
}

/** Every checkpoint of `threadIds`. `recent` are those not older than `before`. */
export async function findCheckpoints(
  db: Connection,
  { threadIds, before }: { threadIds: readonly string[]; before: Sql },
): Promise<ThreadCheckpoint[]> {
  const { schema } = db;
  return db.query<ThreadCheckpoint & Record<string, unknown>>(sql`
    with delta as materialized (
      select c.thread_id, c.checkpoint_ns, array_agg(distinct k.channel) as channels
      from ${schema}.checkpoints c
      cross join lateral jsonb_object_keys(c.metadata -> 'counters_since_delta_snapshot') k (channel)
      where c.thread_id = any (${threadIds}::text[]) and c.metadata ? 'counters_since_delta_snapshot'
      group by 1, 2
    )
    select c.thread_id as "threadId", c.checkpoint_ns as ns, c.checkpoint_id as id,
      c.parent_checkpoint_id as "parentId", coalesce(c.metadata -> 'parents', '{}') as parents,
      coalesce(c.metadata ->> 'source', '') in ('update', 'fork') as forked,
      coalesce((c.checkpoint ->> 'ts')::timestamptz > ${before}, false) as recent,
      coalesce((c.checkpoint ->> 'v')::int, 1) as format,
      array(
        select d.channel from unnest(delta.channels) d (channel)
        where c.checkpoint -> 'channel_versions' ? d.channel and not exists (
          select from ${schema}.checkpoint_blobs b
          where b.thread_id = c.thread_id and b.checkpoint_ns = c.checkpoint_ns and b.channel = d.channel
            and b.version = c.checkpoint -> 'channel_versions' ->> d.channel and b.type <> 'empty'
        )
      ) as replayed
    from ${schema}.checkpoints c
    left join delta on delta.thread_id = c.thread_id and delta.checkpoint_ns = c.checkpoint_ns
    where c.thread_id = any (${threadIds}::text[])`);
}

/** A checkpoint's key. */
export interface CheckpointKey {
  readonly threadId: string;
  readonly ns: string;
  readonly id: string;
}

/** Rows, and the bytes that they hold. */
export interface RowsAndBytes {
  readonly rows: number;
  readonly bytes: number;
}

interface Row {
  rows: number;
  bytes: string;
}

const sizes = {
  checkpoints: sql`pg_column_size(d.checkpoint) + pg_column_size(d.metadata)`,
  writes: sql`octet_length(d.blob)`,
  blobs: sql`coalesce(octet_length(d.blob), 0)`,
};

const total = ([row]: Row[]): RowsAndBytes => ({ rows: row?.rows ?? 0, bytes: Number(row?.bytes ?? 0) });

/** Deletes checkpoints with what was written at them, or only counts them. */
export async function pruneCheckpoints(
  tx: Connection,
  { keys, dryRun }: { keys: readonly CheckpointKey[]; dryRun: boolean },
): Promise<{ readonly checkpoints: RowsAndBytes; readonly writes: RowsAndBytes }> {
  const doomed = keysOf(keys);
  const run = async (table: Sql, size: Sql) =>
    total(
      await tx.query<Row>(
        dryRun
          ? sql`
              select count(*)::int as rows, coalesce(sum(${size}), 0) as bytes
              from ${doomed} join ${table} d
                on d.thread_id = k.thread_id and d.checkpoint_ns = k.ns and d.checkpoint_id = k.id`
          : sql`
              with gone as (
                delete from ${table} d using ${doomed}
                where d.thread_id = k.thread_id and d.checkpoint_ns = k.ns and d.checkpoint_id = k.id
                returning ${size} as size
              )
              select count(*)::int as rows, coalesce(sum(size), 0) as bytes from gone`,
      ),
    );
  return {
    checkpoints: await run(sql`${tx.schema}.checkpoints`, sizes.checkpoints),
    writes: await run(sql`${tx.schema}.checkpoint_writes`, sizes.writes),
  };
}

/**
 * Deletes at most `limit` channel values of `threadIds` that no checkpoint refers to, those of `without` left out, or
 * only counts them.
 *
 * Where another checkpointer has counted a thread's versions in whole numbers, a run of its own that forks from an older
 * checkpoint counts on from there, and PostgresSaver does not write a version that is there already: were such a value
 * deleted just then, the fork would lack it. So values of whole numbers stay that are newer than the oldest checkpoint
 * from which they are counted. A version with a fraction is written once.
 */
export async function pruneBlobs(
  db: Connection,
  {
    threadIds,
    without,
    limit,
    dryRun,
  }: {
    threadIds: readonly string[];
    without: readonly CheckpointKey[];
    limit: number;
    dryRun: boolean;
  },
): Promise<RowsAndBytes> {
  const { schema } = db;
  const unused = sql`
    with left_over as materialized (
      select c.thread_id, c.checkpoint_ns, c.checkpoint_id, v.channel, v.version,
        case when v.version ~ '^[0-9]{1,18}([.][0-9]{1,18})?$' then v.version::numeric end as number
      from ${schema}.checkpoints c
      left join lateral jsonb_each_text(c.checkpoint -> 'channel_versions') v (channel, version) on true
      where c.thread_id = any (${threadIds}::text[])
        and not exists (
          select from ${keysOf(without)}
          where k.thread_id = c.thread_id and k.ns = c.checkpoint_ns and k.id = c.checkpoint_id
        )
    ),
    oldest as (
      select thread_id, checkpoint_ns, min(newest) filter (where newest = trunc(newest)) as version
      from (
        select thread_id, checkpoint_ns, coalesce(max(number), 0) as newest from left_over
        group by thread_id, checkpoint_ns, checkpoint_id
      ) n
      group by thread_id, checkpoint_ns
    ),
    unused as (
      select b.ctid as tuple, octet_length(b.blob) as size
      from ${schema}.checkpoint_blobs b
      left join oldest o on o.thread_id = b.thread_id and o.checkpoint_ns = b.checkpoint_ns
      where b.thread_id = any (${threadIds}::text[])
        and not exists (
          select from left_over l
          where l.thread_id = b.thread_id and l.checkpoint_ns = b.checkpoint_ns and l.channel = b.channel
            and l.version = b.version
        )
        and case when b.version ~ '^[0-9]{1,18}$' then b.version::bigint <= coalesce(o.version, b.version::bigint)
          else true end
      limit ${limit}
    )`;
  return total(
    await db.query<Row>(
      dryRun
        ? sql`${unused} select count(*)::int as rows, coalesce(sum(size), 0) as bytes from unused`
        : sql`${unused},
          gone as (
            delete from ${schema}.checkpoint_blobs d where d.ctid = any (array(select tuple from unused))
            returning ${sizes.blobs} as size
          )
          select count(*)::int as rows, coalesce(sum(size), 0) as bytes from gone`,
    ),
  );
}

function keysOf(keys: readonly CheckpointKey[]): Sql {
  return sql`unnest(
    ${keys.map(({ threadId }) => threadId)}::text[], ${keys.map(({ ns }) => ns)}::text[],
    ${keys.map(({ id }) => id)}::text[]
  ) as k (thread_id, ns, id)`;
}
