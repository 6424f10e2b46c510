import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { acrossTenants } from "../../postgres/isolation.js";
import type { HeldStatus } from "./held-status.js";

/** What a running process holds of users and apps. */
export interface HeldProcess {
  /** "host:pid"; null where the machine has no name. */
  readonly process: string | null;
  readonly owners: number;
  readonly memories: number;
  readonly bytes: number;
  readonly reportedAt: Date;
}

/** A row that was written longer ago is of a process that is gone: it would have written five since. */
const goneAfterMs = 300_000;

// The database's own time, whatever clock the memory has: this is about processes, and not about what is remembered.
const isGone: Sql = sql`p.reported_at < now() - ${goneAfterMs}::float8 * interval '1 millisecond'`;

/** The running processes that hold anything, the largest first. */
export async function listHeldProcesses(db: Connection): Promise<HeldProcess[]> {
  return db.query<HeldProcess & Record<string, unknown>>(sql`
    select p.host_pid as process, p.owners, p.memories::float8 as memories, p.bytes::float8 as bytes,
      p.reported_at as "reportedAt"
    from ${db.schema}.held_process p where not (${isGone})
    order by p.bytes desc, p.id`);
}

/** Removes what killed processes left. */
export async function sweepHeldProcesses(db: Connection): Promise<void> {
  await db.query(sql`delete from ${db.schema}.held_process p where ${isGone}`);
}

/** Tells the table what this process holds. Nobody waits for it, and its failures matter to nobody. */
export interface HeldReport {
  /** To be called when something was taken in or let go. */
  changed(): void;
  /** Takes the row away; resolves when it is gone, or after two seconds. */
  close(): Promise<void>;
}

/** How often it is told. The first time soon, but not by programs that are over at once. */
export const heldReportTimes = { firstMs: 1_000, everyMs: 60_000, closeMs: 2_000 } as const;

/** Nothing is told before something is held. @param held what the process holds now. */
export function createHeldReport(
  db: Connection,
  held: () => Pick<HeldStatus, "owners" | "memories" | "bytes">,
  { firstMs, everyMs, closeMs }: { [Name in keyof typeof heldReportTimes]: number } = heldReportTimes,
): HeldReport {
  const id = randomUUID();
  // A timer set within a run would keep that run's callbacks for as long as it goes on.
  const outside = new AsyncResource("mnemograph.held");
  const process = nameOfProcess();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let told = false;
  let closed = false;

  const plan = (delayMs: number) => {
    timer = outside.runInAsyncScope(() => setTimeout(tell, delayMs)).unref();
  };
  const tell = () => {
    const now = held();
    const write = now.owners > 0 ? upsert(db, { id, process, ...now }) : told ? remove(db, id) : null;
    told = now.owners > 0;
    timer = undefined;
    if (write === null) return;
    writing = write;
    // While anything is held the row is kept young, and what is held next is told no sooner either.
    plan(everyMs);
  };
  return {
    changed() {
      if (timer === undefined && !closed) plan(firstMs);
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      const gone = writing.then(() => (told ? remove(db, id) : undefined));
      await Promise.race([gone, after(closeMs)]);
    },
  };
}

function nameOfProcess(): string | null {
  const host = hostname();
  return host === "" ? null : `${host}:${process.pid}`;
}

/** Longest time of such a statement: it is not worth more. */
const timeoutMs = 2_000;

function upsert(
  db: Connection,
  row: Pick<HeldStatus, "owners" | "memories" | "bytes"> & {
    readonly id: string;
    readonly process: string | null;
  },
): Promise<void> {
  return quietly(() =>
    db.query(
      sql`
      insert into ${db.schema}.held_process as p (id, host_pid, owners, memories, bytes, reported_at)
      values (${row.id}, ${row.process}, ${row.owners}, ${row.memories}, ${row.bytes}, now())
      on conflict (id) do update set owners = excluded.owners, memories = excluded.memories, bytes = excluded.bytes,
        reported_at = excluded.reported_at`,
      { timeoutMs },
    ),
  );
}

function remove(db: Connection, id: string): Promise<void> {
  return quietly(() =>
    db.query(sql`delete from ${db.schema}.held_process p where p.id = ${id}`, { timeoutMs }),
  );
}

/** `work`, whose failure goes no further. The table is no tenant's. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  try {
    await acrossTenants(work);
  } catch {
    // What is held is not said then: a role may lack the right, or the database be away.
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
