import sql, { empty, raw, type Sql } from "sql-template-tag";
import { eventsInserted, type MemoryEvent } from "../events/event-log.js";
import type { Connection } from "../postgres/connection.js";

/** The right to do a piece of work, which one worker has until the lease runs out. */
export interface Lease {
  /**
   * 1 for the first try, one more each time the work is taken. It fences the lease: a worker whose lease ran out can no
   * longer write.
   */
  readonly attempt: number;
}

/** Tells a worker that another one has taken its work over. It ends quietly: no call of a user fails so. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";

  constructor() {
    super("Another worker took this work over.");
  }
}

/**
 * A table each of whose rows is work that one worker at a time may do.
 *
 * Its columns: `lease_until` is set while a worker is at it, `attempts` counts the tries, `retry_at` is when it is due
 * next, `error` is why the last try failed.
 */
export interface LeaseTable<Claim extends Lease> {
  readonly name: string;
  /** The row of a claim, whatever its attempt. */
  row(claim: Claim): Sql;
  /** The same row in log lines. */
  label(claim: Claim): string;
  /** What the lines about its status call it, where that has a name of its own. @default `label` */
  statusLabel?(claim: Claim): string;
  /** What the row says of itself while it is worked on, and after a try that failed. @default nothing */
  readonly status?: { readonly taken: Sql; readonly failed: Sql };
}

/** Whether a row is due: its time has come, or the worker that had it is gone. */
export function isDue(db: Connection): Sql {
  return sql`(lease_until <= ${db.now()} or (lease_until is null and retry_at <= ${db.now()}))`;
}

/** When a lease ends that is taken now. */
export function leaseEnd(db: Connection, leaseMs: number): Sql {
  return sql`${db.now()} + ${leaseMs} * interval '1 millisecond'`;
}

/**
 * Takes the rows named that are due. One statement; of several workers one gets a row.
 *
 * @param input.first a `with` clause, for what is done to other rows at the same time. @default none
 */
export async function takeLeases<Row extends Record<string, unknown>, Claim extends Lease>(
  db: Connection,
  table: LeaseTable<Claim>,
  input: { readonly rows: Sql; readonly leaseMs: number; readonly returning: Sql; readonly first?: Sql },
): Promise<Row[]> {
  return db.query<Row>(
    sql`
    ${input.first ?? empty}
    update ${tableOf(db, table)} w
    set ${table.status?.taken ?? empty} attempts = attempts + 1, retry_at = null, error = null,
      lease_until = ${leaseEnd(db, input.leaseMs)}
    where ${input.rows} and ${isDue(db)}
    returning ${input.returning}`,
    { prepare: true },
  );
}

/** Extends the lease of `claim`. @throws LeaseLost when another worker has taken the work over. */
export async function renewLease<Claim extends Lease>(
  db: Connection,
  table: LeaseTable<Claim>,
  claim: Claim,
  leaseMs: number,
): Promise<void> {
  await setHeld(db, table, claim, sql`lease_until = ${leaseEnd(db, leaseMs)}`);
}

/**
 * Gives the row of `claim` back with `set` written to it, which may name its columns as those of `w`.
 *
 * @param event told of it, with it or not at all.
 * @throws LeaseLost when another worker has taken the work over; nothing is written then.
 */
export async function endLease<Claim extends Lease>(
  db: Connection,
  table: LeaseTable<Claim>,
  claim: Claim,
  set: Sql,
  event?: MemoryEvent,
): Promise<void> {
  await setHeld(db, table, claim, sql`${set}, lease_until = null`, event);
}

/**
 * Gives the row of `claim` back after a try that failed, due again after `retryDelayMs`; null: not again.
 *
 * @throws LeaseLost
 */
export async function failLease<Claim extends Lease>(
  db: Connection,
  table: LeaseTable<Claim>,
  claim: Claim,
  { error, retryDelayMs }: { readonly error: string; readonly retryDelayMs: number | null },
): Promise<void> {
  const retryAt = sql`${db.now()} + ${retryDelayMs}::float8 * interval '1 millisecond'`;
  const set = sql`${table.status?.failed ?? empty} error = ${error}, retry_at = ${retryAt}`;
  await endLease(db, table, claim, set);
}

/** Writes `set` to the row of `claim`, which stays taken. @throws LeaseLost */
export async function setHeld<Claim extends Lease>(
  db: Connection,
  table: LeaseTable<Claim>,
  claim: Claim,
  set: Sql,
  event?: MemoryEvent,
): Promise<void> {
  const told = event && sql`, told as (${eventsInserted(db, [event])} where exists (select from fenced))`;
  const fenced = await db.query(
    sql`
    with fenced as (
      update ${tableOf(db, table)} w set ${set}
      where ${isHeld(table, claim)}
      returning attempts
    )
    ${told ?? empty}
    select attempts from fenced`,
    { prepare: true },
  );
  if (fenced.length === 0) throw new LeaseLost();
}

/** Whether a row of `table` is still that of `claim`, and no other worker's. */
export function isHeld<Claim extends Lease>(table: LeaseTable<Claim>, claim: Claim): Sql {
  return sql`${table.row(claim)} and attempts = ${claim.attempt} and lease_until is not null`;
}

function tableOf(db: Connection, { name }: { readonly name: string }): Sql {
  return sql`${db.schema}.${raw(name)}`;
}
