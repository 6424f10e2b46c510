import sql, { empty } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { asTenant } from "../../postgres/isolation.js";
import { nobody } from "../../scope/scope.js";
import {
  type Listed,
  type Placed,
  type PlaceRow,
  placeIn,
  type StoredCheckpoint,
  selectPlace,
  stepOrder,
  type Where,
  withBytes,
} from "./read-checkpoint.js";

/** Channels to rebuild at a checkpoint; without an id, at the latest of its namespace. */
interface DeltaSearch {
  readonly ns: string;
  readonly id?: string | undefined;
  readonly channels: readonly string[];
}

interface DeltaHistory {
  /** Each channel's value at the nearest ancestor that stores it. */
  readonly seeds: StoredCheckpoint["values"];
  /** What was written to each channel from that ancestor on, oldest first. */
  readonly writes: StoredCheckpoint["writes"];
}

interface Row extends PlaceRow {
  readonly seed_list: Listed<[channel: string, type: string]>;
  readonly seed_bytes: Buffer | null;
  readonly write_list: Listed<[task: string, channel: string, type: string]>;
  readonly write_bytes: Buffer | null;
}

/**
 * What a checkpoint's delta channels are replayed from, in one statement. It goes from parent to parent, and seeks each
 * channel up to the first ancestor that stores it. @throws MemoryError `THREAD_FORBIDDEN`
 */
export async function readDeltaHistory(
  db: Connection,
  where: Where,
  { ns, id, channels }: DeltaSearch,
): Promise<Placed<DeltaHistory>> {
  const { schema } = db;
  const stored = sql`
    ${schema}.checkpoint_blobs b where b.thread_id = a.thread_id and b.checkpoint_ns = a.checkpoint_ns
      and b.channel = s.channel and b.version = a.versions ->> s.channel and b.type <> 'empty'`;
  const fields = sql`
    c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id as parent, c.checkpoint -> 'channel_versions' as versions`;
  const statement = sql`
    with recursive place as materialized (${selectPlace(db, where)}),
    ancestor as (
      (
        select ${fields}, 0 as depth, ${channels}::text[] as sought
        from place p join ${schema}.checkpoints c on c.thread_id = p.name and c.checkpoint_ns = ${ns}
        where p.owned ${id === undefined ? empty : sql`and c.checkpoint_id = ${id}`}
        order by c.checkpoint_id desc limit 1
      )
      union all
      select ${fields}, a.depth + 1, l.sought
      from ancestor a cross join lateral (
        select array(
          select s.channel from unnest(a.sought) s (channel) where a.depth = 0 or not exists (select from ${stored})
        ) as sought
      ) l join ${schema}.checkpoints c
        on c.thread_id = a.thread_id and c.checkpoint_ns = a.checkpoint_ns and c.checkpoint_id = a.parent
      where l.sought <> '{}'
    )
    select p.*, s.list as seed_list, s.bytes as seed_bytes, w.list as write_list, w.bytes as write_bytes
    from place p cross join lateral (
      select coalesce(json_agg(json_build_array(b.channel, b.type, octet_length(b.blob)) order by b.channel), '[]') as list,
        string_agg(b.blob, ''::bytea order by b.channel) as bytes
      from ancestor a cross join unnest(a.sought) s (channel) cross join lateral (select * from ${stored}) b
      where a.depth > 0
    ) s cross join lateral (
      select coalesce(json_agg(json_build_array(w.task_id, w.channel, w.type, octet_length(w.blob))
          order by a.depth desc, ${stepOrder}), '[]') as list,
        string_agg(w.blob, ''::bytea order by a.depth desc, ${stepOrder}) as bytes
      from ancestor a join ${schema}.checkpoint_writes w on w.thread_id = a.thread_id
        and w.checkpoint_ns = a.checkpoint_ns and w.checkpoint_id = a.checkpoint_id and w.channel = any (a.sought)
      where a.depth > 0
    ) w`;
  const tenant = (where.scope ?? nobody).tenantId;
  const [row] = await asTenant(tenant, () =>
    db.query<Row & Record<string, unknown>>(statement, { prepare: true }),
  );
  return [
    placeIn(where, row),
    {
      seeds: row ? withBytes(row.seed_list, row.seed_bytes) : [],
      writes: row ? withBytes(row.write_list, row.write_bytes) : [],
    },
  ];
}
