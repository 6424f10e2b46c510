import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";

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
 * A run that forks from an older checkpoint counts versions on from there, and PostgresSaver does not write a version
 * that is there already: were such a value deleted just then, the fork would lack it. So values newer than the oldest
 * checkpoint stay until that goes.
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
        case when v.version ~ '^[0-9]{1,18}$' then v.version::bigint end as number
      from ${schema}.checkpoints c
      left join lateral jsonb_each_text(c.checkpoint -> 'channel_versions') v (channel, version) on true
      where c.thread_id = any (${threadIds}::text[])
        and not exists (
          select from ${keysOf(without)}
          where k.thread_id = c.thread_id and k.ns = c.checkpoint_ns and k.id = c.checkpoint_id
        )
    ),
    oldest as (
      select thread_id, checkpoint_ns, min(newest) as version
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
