import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { CheckpointNode } from "../domain/superseded-checkpoints.js";

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
