import sql, { type Sql } from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Database } from "../../postgres/database.js";
import { asTenant } from "../../postgres/isolation.js";
import { threadForbidden } from "../../scope/scope.js";
import { storableEscapes } from "../../text/storable-text.js";
import type { CheckpointPlace } from "./checkpoint-place.js";

interface BlobRow {
  readonly ns: string;
  readonly channel: string;
  readonly version: string;
  readonly type: string;
  readonly value: Uint8Array | null;
}

interface NewCheckpoint {
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
  readonly checkpoints?: readonly NewCheckpoint[];
  readonly writes?: readonly WriteRow[];
}

type Waiting = CheckpointPart & {
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

type Queue = { readonly waiting: Waiting[]; underWay: number };

/** Concurrent statements of a tenant: one runs while the next is gathered. */
const maxAtOnce = 2;

/** PostgreSQL holds all values of a statement in memory. A larger part is written alone. */
const maxBytes = 16 * 1024 * 1024;

/** A locked thread is tried again after as long as it has waited, within these. */
const [minWaitMs, maxWaitMs] = [10, 1_000];

/**
 * Writes parts of checkpoints. One statement takes what a tenant's runs write in one turn of the
 * event loop, or while two statements run. Promises resolve after the commit, and reject with
 * `THREAD_FORBIDDEN` for a forgotten thread. A part that the database refuses fails alone. Parts
 * of a locked thread wait without a connection, up to `statementTimeoutMs`, then fail with
 * `DATABASE_TIMEOUT`.
 */
export function checkpointWriter(db: Database): (part: CheckpointPart) => Promise<void> {
  const queues = new Map<string, Queue>();
  const enqueue = (tenant: string, parts: readonly Waiting[]): void => {
    const queue = queues.get(tenant) ?? { waiting: [], underWay: 0 };
    queues.set(tenant, queue);
    if (queue.waiting.length === 0) setImmediate(flush, tenant, queue);
    for (const part of parts) queue.waiting.push(part);
  };
  const flush = (tenant: string, queue: Queue): void => {
    while (queue.underWay < maxAtOnce && queue.waiting.length > 0) {
      queue.underWay++;
      void writeAll(db, tenant, nextGroup(queue.waiting)).then((locked) => {
        queue.underWay--;
        if (locked.length > 0) setTimeout(enqueue, waitMs(locked), tenant, locked);
        if (queue.underWay === 0 && queue.waiting.length === 0) queues.delete(tenant);
        else flush(tenant, queue);
      });
    }
  };
  return (part) =>
    new Promise((resolve, reject) => {
      const tenant = part.place.scope.tenantId ?? "";
      enqueue(tenant, [{ ...part, since: performance.now(), resolve, reject }]);
    });
}

function nextGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex(({ blobs = [], writes = [] }, at) => {
    for (const { value } of [...blobs, ...writes]) bytes += value?.length ?? 0;
    return at > 0 && bytes > maxBytes;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

function waitMs(locked: readonly Waiting[]): number {
  const latest = Math.max(...locked.map(({ since }) => since));
  return Math.min(Math.max(performance.now() - latest, minWaitMs), maxWaitMs);
}

/** Settles all of `parts` except those of locked threads, which it returns; never rejects. */
async function writeAll(
  db: Database,
  tenant: string,
  parts: readonly Waiting[],
): Promise<Waiting[]> {
  try {
    const threads = await writeTogether(db, tenant, parts);
    return parts.filter((part) => {
      const isWritten = threads.get(part.place.threadRef);
      const isLate = performance.now() - part.since >= (db.statementTimeoutMs ?? Infinity);
      if (isWritten) part.resolve();
      else if (isWritten === undefined) part.reject(threadForbidden(part.place.threadId));
      else if (isLate) part.reject(threadLocked(part));
      else return true;
      return false;
    });
  } catch (error) {
    if (parts.length === 1) {
      parts[0]?.reject(error);
      return [];
    }
  }
  // One of them is refused: each is written alone.
  const locked: Waiting[] = [];
  for (const part of parts) locked.push(...(await writeAll(db, tenant, [part])));
  return locked;
}

const threadLocked = ({ place, since }: Waiting): MemoryError =>
  new MemoryError(
    "DATABASE_TIMEOUT",
    `A checkpoint of thread "${place.threadId}" was not written: another transaction has locked the thread for ` +
      `${Math.round(performance.now() - since)} ms. Look in pg_locks for who holds its row of "thread".`,
  );

/** @returns the threads that exist; false for a locked one, of which nothing is written */
async function writeTogether(
  db: Database,
  tenant: string,
  parts: readonly Waiting[],
): Promise<ReadonlyMap<number | null, boolean>> {
  const { schema } = db;
  const threads = [...new Set(parts.map(({ place }) => place.threadRef))];
  const { data, rows } = packedParts(parts);
  const insertWrites = (chosen: Sql) => sql`
        insert into ${schema}.checkpoint_writes (
          thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
        )
        select name, ns, id, task, path, idx, channel, type, value from task_write where ${chosen}
        on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do`;
  const found = await asTenant(tenant, () =>
    db.query<{ id: string; written: boolean }>(
      sql`
      with data as materialized (select ${data}::bytea as bytes),
      held as materialized (
        select t.id, t.checkpoint_name as name from ${schema}.thread t
        where t.id = any (${threads}::bigint[]) for share skip locked
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
        from json_to_recordset(${storableEscapes(JSON.stringify(rows.checkpoints))}) as c (
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
      select t.id, h.id is not null as written from ${schema}.thread t left join held h on h.id = t.id
      where t.id = any (${threads}::bigint[])`,
      { prepare: true },
    ),
  );
  return new Map(found.map(({ id, written }) => [Number(id), written]));
}

/**
 * Values in one binary parameter, since arrays of them are written letter by letter; rows have
 * their places.
 */
function packedParts(parts: readonly CheckpointPart[]) {
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
  const checkpoints = parts.flatMap(({ place: { threadRef: thread }, checkpoints: own = [] }) =>
    own.map((row) => ({ thread, ...row })),
  );
  const writes = parts.flatMap(({ place, writes: own = [] }) =>
    own.map((write) => placed(place.threadRef, write)),
  );
  const rows = {
    blobs: parts.flatMap(({ place, blobs = [] }) =>
      blobs.map((blob) => placed(place.threadRef, blob)),
    ),
    checkpoints: lastOfEach(checkpoints, ({ thread, ns, id }) => [thread, ns, id]),
    writes: lastOfEach(writes, ({ thread, ns, id, task, idx, replaces }, at) => [
      thread,
      ns,
      id,
      task,
      idx,
      replaces || at,
    ]),
  };
  return { data: Buffer.concat(values), rows };
}

/** A statement cannot change a row twice. */
function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row, at: number) => unknown[]): Row[] {
  return [...new Map(rows.map((row, at) => [JSON.stringify(keyOf(row, at)), row])).values()];
}
