import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { asTenant } from "../../postgres/isolation.js";
import { type ThreadAddress, threadForbidden } from "../../scope/scope.js";
import { isOwnThread, threadIs } from "../../scope/scope-predicates.js";
import type { CheckpointPlace } from "./checkpoint-place.js";

export interface CheckpointSearch {
  readonly ns?: string | undefined;
  readonly id?: string | undefined;
  readonly before?: string | undefined;
  readonly filter?: Record<string, unknown> | undefined;
  readonly limit?: number | undefined;
}

/** For each value its fields, its type and its length in the bytes beside the list. */
export type Listed<Fields extends readonly unknown[]> = readonly (readonly [
  ...Fields,
  type: string,
  length: number,
])[];

/** The thread, whether the asker owns it, its checkpoints' name, and values. */
interface FoundRow {
  readonly ref: string | null;
  readonly owned: boolean;
  readonly name: string | null;
  readonly value_list: Listed<[channel: string]>;
  readonly value_bytes: Buffer | null;
  readonly write_list: Listed<[task: string, channel: string]>;
  readonly write_bytes: Buffer | null;
}

export interface StoredCheckpoint extends FoundRow {
  readonly ns: string;
  /** Null in the row of a place without a checkpoint. */
  readonly id: string;
  readonly parent: string | null;
  readonly checkpoint: Omit<Checkpoint, "channel_values">;
  readonly metadata: Record<string, unknown>;
}

export type Where = CheckpointPlace | ThreadAddress;

/** No place without a thread's row and name. */
export type FoundAt<Found> = readonly [place: CheckpointPlace | undefined, found: Found];

function selectPlace({ schema }: Connection, where: Where): Sql {
  if ("name" in where)
    return sql`select null::bigint as ref, true as owned, ${where.name}::text as name`;
  const { scope, threadId } = where;
  return sql`
    select t.id as ref, ${isOwnThread(scope)} as owned, t.checkpoint_name as name
    from ${schema}.thread t where ${threadIs(scope.tenantId ?? "", threadId)}`;
}

function placeIn(where: Where, row: FoundRow | undefined): CheckpointPlace | undefined {
  if ("name" in where) return where;
  const { threadId, scope } = where;
  if (row?.owned === false) throw threadForbidden(threadId);
  return row?.name ? { threadId, scope, name: row.name, threadRef: Number(row.ref) } : undefined;
}

/** The order in which LangGraph applies a step's writes. */
const stepOrder = sql`w.task_path collate "C", w.task_id collate "C", w.idx`;

const valuesInOrder = packedValues(sql`b.channel, b.type`, sql`b.blob`, sql`b.channel`);
const writesOf = (order: Sql) =>
  packedValues(sql`w.task_id, w.channel, w.type`, sql`w.blob`, order);

/** All values concatenated, since lists of them are read letter by letter. */
function packedValues(fields: Sql, value: Sql, order: Sql): Sql {
  return sql`
    coalesce(json_agg(json_build_array(${fields}, octet_length(${value})) order by ${order}), '[]') as list,
    string_agg(${value}, ''::bytea order by ${order}) as bytes`;
}

/** One statement. @throws MemoryError `THREAD_FORBIDDEN` */
export async function readCheckpoints(
  db: Connection,
  where: Where,
  { ns, id, before, filter, limit }: CheckpointSearch,
): Promise<FoundAt<StoredCheckpoint[]>> {
  const { schema } = db;
  const conditions = [sql`p.owned and c.thread_id = p.name`];
  if (ns !== undefined) conditions.push(sql`c.checkpoint_ns = ${ns}`);
  if (id !== undefined) conditions.push(sql`c.checkpoint_id = ${id}`);
  if (before !== undefined) conditions.push(sql`c.checkpoint_id < ${before}`);
  if (filter !== undefined) conditions.push(sql`c.metadata @> ${JSON.stringify(filter)}::jsonb`);
  const statement = sql`
    with place as materialized (${selectPlace(db, where)})
    select p.ref, p.owned, p.name, c.checkpoint_ns as ns, c.checkpoint_id as id, c.parent_checkpoint_id as parent,
      c.checkpoint, c.metadata, v.list as value_list, v.bytes as value_bytes, w.list as write_list, w.bytes as write_bytes
    from place p left join lateral (
      select * from ${schema}.checkpoints c where ${join(conditions, " and ")}
      order by c.checkpoint_id desc ${limit === undefined ? empty : sql`limit ${limit}`}
    ) c on true left join lateral (
      select ${valuesInOrder} from jsonb_each_text(c.checkpoint -> 'channel_versions') k cross join lateral (
        select * from ${schema}.checkpoint_blobs b
        where b.thread_id = p.name and b.checkpoint_ns = c.checkpoint_ns and b.channel = k.key and b.version = k.value limit 1
      ) b
      where b.type <> 'empty'
    ) v on true left join lateral (
      select ${writesOf(stepOrder)} from ${schema}.checkpoint_writes w
      where w.thread_id = p.name and w.checkpoint_ns = c.checkpoint_ns and w.checkpoint_id = c.checkpoint_id
    ) w on true
    order by c.checkpoint_id desc`;
  const rows = await query<StoredCheckpoint>(db, where, statement);
  return [placeIn(where, rows[0]), rows.filter(({ id }) => id !== null)];
}

/**
 * What delta channels are replayed from: the first ancestor that stores each, and writes since,
 * oldest first.
 */
export async function readDeltaHistory(
  db: Connection,
  where: Where,
  {
    ns,
    id,
    channels,
  }: Pick<CheckpointSearch, "ns" | "id"> & { readonly channels: readonly string[] },
): Promise<FoundAt<FoundRow | undefined>> {
  const { schema } = db;
  // The limit makes it look up each value by its whole key.
  const sought = sql`unnest(a.sought) s (channel) left join lateral (
        select b.channel, b.type, b.blob from ${schema}.checkpoint_blobs b
        where b.thread_id = a.thread_id and b.checkpoint_ns = a.checkpoint_ns and b.channel = s.channel
          and b.version = a.versions ->> s.channel and b.type <> 'empty' limit 1
      ) b on true`;
  const fields = sql`c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id as parent,
    c.checkpoint -> 'channel_versions' as versions`;
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
        select array(select s.channel from ${sought} where a.depth = 0 or b.type is null) as sought offset 0
      ) l join ${schema}.checkpoints c
        on c.thread_id = a.thread_id and c.checkpoint_ns = a.checkpoint_ns and c.checkpoint_id = a.parent
      where l.sought <> '{}'
    )
    select p.*, v.list as value_list, v.bytes as value_bytes, w.list as write_list, w.bytes as write_bytes
    from place p cross join lateral (
      select ${valuesInOrder}
      from ancestor a cross join ${sought} where a.depth > 0 and b.type is not null
    ) v cross join lateral (
      select ${writesOf(sql`a.depth desc, ${stepOrder}`)}
      from ancestor a join ${schema}.checkpoint_writes w on w.thread_id = a.thread_id
        and w.checkpoint_ns = a.checkpoint_ns and w.checkpoint_id = a.checkpoint_id and w.channel = any (a.sought)
      where a.depth > 0
    ) w`;
  const [row] = await query<FoundRow>(db, where, statement);
  return [placeIn(where, row), row];
}

function query<Row extends FoundRow>(db: Connection, where: Where, statement: Sql): Promise<Row[]> {
  return asTenant(where.scope.tenantId, () => db.query<Row>(statement, { prepare: true }));
}
