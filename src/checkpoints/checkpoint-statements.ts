import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { CheckpointRow } from "./superseded-checkpoints.rule.js";

export async function nextName(db: Connection, after: string): Promise<string | undefined> {
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
  return db.query<CheckpointRow & Record<string, unknown>>(sql`
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

export async function deleteCheckpoints(
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

export async function deleteUnusedValues(
  db: Connection,
  name: string,
  limit: number,
): Promise<number> {
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
      where b.thread_id = ${name} and u.version is null limit ${limit}
    )) returning 1`);
  return rows.length;
}
