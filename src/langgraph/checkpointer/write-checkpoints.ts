import sql, { raw, type Sql } from "sql-template-tag";
import type { Database } from "../../postgres/database.js";
import { asTenant } from "../../postgres/isolation.js";
import { nobody, threadForbidden } from "../../scope/scope.js";
import type { CheckpointPlace } from "./checkpoint-place.js";

interface BlobRow {
  readonly ns: string;
  readonly channel: string;
  readonly version: string;
  readonly type: string;
  readonly value: Uint8Array | null;
}

interface CheckpointRow {
  readonly ns: string;
  readonly id: string;
  readonly parent: string | null;
  readonly checkpoint: object;
  readonly metadata: object;
}

interface WriteRow {
  readonly ns: string;
  readonly id: string;
  readonly task: string;
  readonly path: string;
  readonly idx: number;
  readonly channel: string;
  readonly type: string;
  readonly value: Uint8Array;
  /** Errors and interrupts replace an earlier one of their task. */
  readonly replaces: boolean;
}

export interface CheckpointPart {
  readonly place: CheckpointPlace;
  readonly blobs?: readonly BlobRow[];
  readonly checkpoints?: readonly CheckpointRow[];
  readonly writes?: readonly WriteRow[];
}

type Waiting = CheckpointPart & {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

type Queue = { readonly waiting: Waiting[]; underWay: number };

/** Concurrent statements of a tenant: one runs while the next is gathered. */
const mostAtOnce = 2;

/** PostgreSQL holds all values of a statement in memory. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Writes parts of checkpoints. One statement takes what a tenant's runs write in one turn of the
 * event loop, or while two statements run. Promises resolve after the commit, and reject with
 * `THREAD_FORBIDDEN` for a forgotten thread. A part that the database refuses fails alone.
 */
export function checkpointWriter(db: Database): (part: CheckpointPart) => Promise<void> {
  const queues = new Map<string, Queue>();
  const flush = (tenant: string, queue: Queue): void => {
    while (queue.underWay < mostAtOnce && queue.waiting.length > 0) {
      queue.underWay++;
      void writeAll(db, tenant, nextGroup(queue.waiting)).finally(() => {
        queue.underWay--;
        if (queue.underWay === 0 && queue.waiting.length === 0) queues.delete(tenant);
        else flush(tenant, queue);
      });
    }
  };
  return (part) =>
    new Promise((resolve, reject) => {
      const tenant = (part.place.scope ?? nobody).tenantId ?? "";
      const queue = queues.get(tenant) ?? { waiting: [], underWay: 0 };
      queues.set(tenant, queue);
      queue.waiting.push({ ...part, resolve, reject });
      if (queue.waiting.length === 1) setImmediate(flush, tenant, queue);
    });
}

function nextGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex(({ blobs = [], writes = [] }, at) => {
    for (const { value } of [...blobs, ...writes]) bytes += value?.length ?? 0;
    return at > 0 && bytes > mostBytes;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/** Settles all of `parts`; never rejects. */
async function writeAll(db: Database, tenant: string, parts: readonly Waiting[]): Promise<void> {
  const refs = [...new Set(parts.map(({ place }) => place.threadRef))];
  const threads = refs.map((ref) => parts.filter(({ place }) => place.threadRef === ref));
  const isOneThread = threads.length === 1;
  let left: readonly Waiting[][];
  try {
    const written = await writeTogether(db, tenant, parts, isOneThread ? "" : " skip locked");
    for (const { place, resolve } of parts) if (written.has(place.threadRef)) resolve();
    left = threads.filter(([part]) => !written.has(part?.place.threadRef ?? null));
    // Others do not wait for a thread that is being forgotten: it is written separately.
    if (isOneThread) return rejectAll(left.flat(), ({ place }) => threadForbidden(place.threadId));
  } catch (error) {
    if (parts.length === 1) return rejectAll(parts, () => error);
    left = isOneThread ? parts.map((part) => [part]) : threads;
  }
  for (const some of left) await writeAll(db, tenant, some);
}

function rejectAll(parts: readonly Waiting[], errorOf: (part: Waiting) => unknown): void {
  for (const part of parts) part.reject(errorOf(part));
}

async function writeTogether(
  db: Database,
  tenant: string,
  parts: readonly Waiting[],
  ofLocked: "" | " skip locked",
): Promise<ReadonlySet<number | null>> {
  const { schema } = db;
  const places = new Map(parts.map(({ place }) => [place.threadRef, place.name]));
  const threads = [...places].map(([thread, name]) => ({ thread, name }));
  const { data, rows } = packed(parts);
  const insertWrites = (chosen: Sql) => sql`
        insert into ${schema}.checkpoint_writes (
          thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        )
        select name, ns, id, task, path, idx, channel, type, value from task_write where ${chosen}
        on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do`;
  const held = await asTenant(tenant, () =>
    db.query<{ id: string }>(
      sql`
      with data as materialized (select ${data}::bytea as bytes),
      held as materialized (
        select t.id, p.name from json_to_recordset(${JSON.stringify(threads)}) as p (thread bigint, name text)
        join ${schema}.thread t on t.id = p.thread for share of t${raw(ofLocked)}
      ),
      blob as (
        insert into ${schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
        select h.name, b.ns, b.channel, b.version, b.type, substring(bytes from b.at for b.length)
        from json_to_recordset(${JSON.stringify(rows.blobs)}) as b (
          thread bigint, ns text, channel text, version text, type text, at integer, length integer
        ) join held h on h.id = b.thread cross join data
        on conflict (thread_id, checkpoint_ns, channel, version) do nothing
      ),
      checkpoint as (
        insert into ${schema}.checkpoints (
          thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
        )
        select h.name, c.ns, c.id, c.parent, c.checkpoint, c.metadata
        from json_to_recordset(${JSON.stringify(rows.checkpoints)}) as c (
          thread bigint, ns text, id text, parent text, checkpoint jsonb, metadata jsonb
        ) join held h on h.id = c.thread
        on conflict (thread_id, checkpoint_ns, checkpoint_id)
          do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata
      ),
      task_write as materialized (
        select h.name, w.*, substring(bytes from w.at for w.length) as value
        from json_to_recordset(${JSON.stringify(rows.writes)}) as w (
          thread bigint, ns text, id text, task text, path text, idx integer, channel text, type text, at integer,
          length integer, replaces boolean
        ) join held h on h.id = w.thread cross join data
      ),
      kept as (${insertWrites(sql`not replaces`)} nothing),
      replaced as (
        ${insertWrites(sql`replaces`)} update set channel = excluded.channel, type = excluded.type, blob = excluded.blob
      )
      select id from held`,
      { prepare: true },
    ),
  );
  return new Set(held.map(({ id }) => Number(id)));
}

/**
 * Values in one binary parameter, since arrays of them are written letter by letter; rows have
 * their places.
 */
function packed(parts: readonly CheckpointPart[]) {
  const values: Uint8Array[] = [];
  let end = 0;
  const placed = <Row extends { readonly value: Uint8Array | null }>(
    thread: number | null,
    row: Row,
  ) => {
    const { value, ...fields } = row;
    if (value === null) return { thread, ...fields };
    values.push(value);
    end += value.length;
    return { thread, ...fields, at: end - value.length + 1, length: value.length };
  };
  const of = <Row>(
    rowsOf: (part: CheckpointPart, thread: number | null) => readonly Row[],
  ): Row[] => parts.flatMap((part) => rowsOf(part, part.place.threadRef));
  const rows = {
    blobs: of(({ blobs = [] }, thread) => blobs.map((blob) => placed(thread, blob))),
    checkpoints: lastOfEach(
      of(({ checkpoints = [] }, thread) => checkpoints.map((row) => ({ thread, ...row }))),
      ({ thread, ns, id }) => [thread, ns, id],
    ),
    writes: lastOfEach(
      of(({ writes = [] }, thread) => writes.map((write) => placed(thread, write))),
      ({ thread, ns, id, task, idx, replaces }, at) => [thread, ns, id, task, idx, replaces || at],
    ),
  };
  return { data: Buffer.concat(values), rows };
}

/** A statement cannot change a row twice. */
function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row, at: number) => unknown[]): Row[] {
  return [...new Map(rows.map((row, at) => [JSON.stringify(keyOf(row, at)), row])).values()];
}
