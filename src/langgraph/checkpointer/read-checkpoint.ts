import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { asTenant } from "../../postgres/isolation.js";
import { nobody, threadForbidden } from "../../scope/scope.js";
import { scopeColumns, threadIs } from "../../scope/scope-predicates.js";
import type { Asked, CheckpointPlace } from "./checkpoint-place.js";

/** Which checkpoints of a thread, latest first. */
export interface CheckpointSearch {
  /** @default any */
  readonly ns?: string | undefined;
  readonly id?: string | undefined;
  /** Only those before this one. */
  readonly before?: string | undefined;
  /** What their metadata must contain. */
  readonly filter?: Record<string, unknown> | undefined;
  /** @default all */
  readonly limit?: number | undefined;
}

/** A checkpoint as the tables have it. */
export interface StoredCheckpoint {
  readonly ns: string;
  readonly id: string;
  readonly parent: string | null;
  readonly checkpoint: Omit<Checkpoint, "channel_values">;
  readonly metadata: Record<string, unknown>;
  readonly values: readonly [channel: string, type: string, value: Uint8Array][];
  /** In the order in which a step applies them. */
  readonly writes: readonly [task: string, channel: string, type: string, value: Uint8Array][];
}

export type Listed<Row extends readonly unknown[]> = readonly (readonly [...Row, length: number])[];

interface Row extends PlaceRow, Pick<StoredCheckpoint, "ns" | "parent" | "metadata"> {
  readonly id: string | null;
  readonly checkpoint: StoredCheckpoint["checkpoint"];
  readonly value_list: Listed<[channel: string, type: string]>;
  readonly value_bytes: Buffer | null;
  readonly write_list: Listed<[task: string, channel: string, type: string]>;
  readonly write_bytes: Buffer | null;
}

/** A thread whose checkpoints were found before, or which is asked for. */
export type Where = CheckpointPlace | Asked;

/** No place for a thread that has no row or whose checkpoints have no name yet. */
export type Placed<Found> = readonly [place: CheckpointPlace | undefined, found: Found];

/** One statement. @throws MemoryError `THREAD_FORBIDDEN` */
export async function readCheckpoints(
  db: Connection,
  where: Where,
  search: CheckpointSearch,
): Promise<Placed<StoredCheckpoint[]>> {
  const rows = await findRows(db, where, search);
  return [placeIn(where, rows[0]), rows.flatMap(storedIn)];
}

/** What `placeIn` reads: the thread, whether it is the asker's, and the name of its checkpoints. */
export interface PlaceRow {
  readonly ref: string | null;
  readonly owned: boolean;
  readonly name: string | null;
}

export function selectPlace({ schema }: Connection, where: Where): Sql {
  if ("name" in where) return sql`select null::bigint as ref, true as owned, ${where.name}::text as name`;
  const { tenantId, userId, appId } = scopeColumns(where.scope ?? nobody);
  return sql`
    select t.id as ref, t.user_id = ${userId} and t.app_id = ${appId} as owned, t.checkpoint_name as name
    from ${schema}.thread t where ${threadIs(tenantId, where.threadId)}`;
}

/** @throws MemoryError `THREAD_FORBIDDEN` */
export function placeIn(where: Where, row: PlaceRow | undefined): CheckpointPlace | undefined {
  if ("name" in where) return where;
  const { threadId, scope } = where;
  if (row?.owned === false) throw threadForbidden(threadId);
  if (!row || row.name === null) return undefined;
  return { threadId, scope, name: row.name, threadRef: Number(row.ref) };
}

/** The order in which a step applies what its tasks wrote. */
export const stepOrder = sql`w.task_path collate "C", w.task_id collate "C", w.idx`;

async function findRows(
  db: Connection,
  where: Where,
  { ns, id, before, filter, limit }: CheckpointSearch,
): Promise<Row[]> {
  const { schema } = db;
  const conditions = [
    sql`p.owned and c.thread_id = p.name`,
    ...(ns === undefined ? [] : [sql`c.checkpoint_ns = ${ns}`]),
    ...(id === undefined ? [] : [sql`c.checkpoint_id = ${id}`]),
    ...(before === undefined ? [] : [sql`c.checkpoint_id < ${before}`]),
    ...(filter === undefined ? [] : [sql`c.metadata @> ${JSON.stringify(filter)}::jsonb`]),
  ];
  const statement = sql`
    with place as materialized (${selectPlace(db, where)})
    select p.ref, p.owned, p.name, c.checkpoint_ns as ns, c.checkpoint_id as id, c.parent_checkpoint_id as parent,
      c.checkpoint, c.metadata, v.list as value_list, v.bytes as value_bytes, w.list as write_list, w.bytes as write_bytes
    from place p left join lateral (
      select * from ${schema}.checkpoints c where ${join(conditions, " and ")}
      order by c.checkpoint_id desc ${limit === undefined ? empty : sql`limit ${limit}`}
    ) c on true left join lateral (
      select coalesce(json_agg(json_build_array(b.channel, b.type, octet_length(b.blob)) order by b.channel), '[]') as list,
        string_agg(b.blob, ''::bytea order by b.channel) as bytes
      from jsonb_each_text(c.checkpoint -> 'channel_versions') k cross join lateral (
        select * from ${schema}.checkpoint_blobs b
        where b.thread_id = p.name and b.checkpoint_ns = c.checkpoint_ns and b.channel = k.key and b.version = k.value limit 1
      ) b
      where b.type <> 'empty'
    ) v on true left join lateral (
      select coalesce(json_agg(json_build_array(w.task_id, w.channel, w.type, octet_length(w.blob)) order by ${stepOrder}), '[]')
        as list, string_agg(w.blob, ''::bytea order by ${stepOrder}) as bytes
      from ${schema}.checkpoint_writes w
      where w.thread_id = p.name and w.checkpoint_ns = c.checkpoint_ns and w.checkpoint_id = c.checkpoint_id
    ) w on true
    order by c.checkpoint_id desc`;
  const tenant = (where.scope ?? nobody).tenantId;
  return asTenant(tenant, () => db.query<Row & Record<string, unknown>>(statement, { prepare: true }));
}

function storedIn(row: Row): StoredCheckpoint[] {
  if (row.id === null) return [];
  const { ns, id, parent, checkpoint, metadata } = row;
  const values = withBytes(row.value_list, row.value_bytes);
  return [
    { ns, id, parent, checkpoint, metadata, values, writes: withBytes(row.write_list, row.write_bytes) },
  ];
}

/** Fields of rows with the values that their statement packed into one. */
export function withBytes<Fields extends readonly unknown[]>(
  list: Listed<Fields>,
  bytes: Buffer | null,
): [...Fields, Uint8Array][] {
  let end = 0;
  return list.map((each) => {
    const length = each.at(-1) as number;
    end += length;
    return [...each.slice(0, -1), (bytes ?? Buffer.alloc(0)).subarray(end - length, end)] as unknown as [
      ...Fields,
      Uint8Array,
    ];
  });
}
