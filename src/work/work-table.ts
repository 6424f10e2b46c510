import { hostname } from "node:os";
import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import type { WorkKind } from "./work-kinds.rule.js";

export interface WorkKey {
  readonly kind: WorkKind;
  readonly of: "thread" | "owner";
  readonly ref: number;
}

export interface Claim {
  readonly id: number;
  readonly ref: number;
  /** Fencing token: a later claim has a higher number, and then this one cannot write. */
  readonly lease: number;
  readonly attempt: number;
  /** A seq for facts and notes, a turn for episodes, a revision for an owner's work. */
  readonly doneUntil: number;
}

const workerName = `${hostname()}:${process.pid}`;

/** Another worker took over. Handled silently: no user's call fails. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";

  constructor() {
    super("Another worker took this work over.");
  }
}

const refColumn = (of: WorkKey["of"]) => raw(`${of}_ref`);

const isOf = ({ kind, of, ref }: WorkKey): Sql =>
  sql`${refColumn(of)} = ${ref} and kind = ${kind} and given_up_at is null`;

const isDue = (db: Connection): Sql => sql`coalesce(lease_until, retry_at) <= ${db.now()}`;

const afterMs = (db: Connection, ms: number | null): Sql =>
  sql`${db.now()} + ${ms}::float8 * interval '1 millisecond'`;

/** Marks work as due, unless a failed try delays it or it is due earlier. */
export async function markWork(
  db: Connection,
  key: WorkKey,
  /** `from`: the initial `doneUntil`. `restMs`: minimum time since the last run. */
  { from = 0, restMs = 0 }: { from?: number | undefined; restMs?: number } = {},
): Promise<void> {
  const { kind, of, ref } = key;
  const column = refColumn(of);
  await db.query(sql`
    insert into ${db.schema}.work as k (kind, ${column}, done_until, retry_at)
    select ${kind}, ${ref}::bigint, ${from}::bigint,
      greatest(${db.now()}, w.done_at + ${restMs}::float8 * interval '1 millisecond')
    from (values (1)) one left join (
      select done_at from ${db.schema}.work where ${isOf(key)}
    ) w on true
    on conflict (${column}, kind) where given_up_at is null do update set retry_at = case
      when k.attempts > 0 then coalesce(k.retry_at, excluded.retry_at) else least(k.retry_at, excluded.retry_at)
    end`);
}

/**
 * Makes waiting (not failed) work due and returns its threads. @param threads a query
 * @default all
 */
export async function hastenWork(db: Connection, kind: WorkKind, threads?: Sql): Promise<number[]> {
  const rows = await db.query<{ ref: number }>(sql`
    update ${db.schema}.work k set retry_at = ${db.now()}
    where k.kind = ${kind} and k.given_up_at is null and k.attempts = 0 and k.lease_until is null
      and k.retry_at > ${db.now()} ${threads ? sql`and k.thread_ref in (${threads})` : empty}
    returning k.thread_ref::float8 as ref`);
  return rows.map(({ ref }) => ref);
}

export const otherThreads = (db: Connection, threadRef: number) => sql`
  select t.id from ${db.schema}.thread o join ${db.schema}.thread t on t.owner_ref = o.owner_ref and t.id <> o.id
  where o.id = ${threadRef}`;

/**
 * Claims the first of `refs` that is due. Of several, those that another worker is claiming are
 * skipped, so that workers do not wait for each other.
 */
export async function takeWork(
  db: Connection,
  { kind, of }: Omit<WorkKey, "ref">,
  refs: readonly number[],
  leaseMs: number,
): Promise<Claim | null> {
  const column = refColumn(of);
  const [only = -1, ...others] = refs;
  const first =
    others.length === 0
      ? sql`${isOf({ kind, of, ref: only })} and ${isDue(db)}`
      : sql`id = (
          select id from ${db.schema}.work
          where ${column} = any (${refs}::bigint[]) and kind = ${kind} and given_up_at is null and ${isDue(db)}
          order by array_position(${refs}::bigint[], ${column}) limit 1 for update skip locked
        )`;
  const [claim = null] = await db.query<Claim>(
    sql`
    update ${db.schema}.work
    set attempts = attempts + 1, lease = lease + 1, due_since = coalesce(due_since, retry_at), retry_at = null,
      lease_until = ${afterMs(db, leaseMs)}, worker = ${workerName}, taken_at = ${db.now()}
    where ${first}
    returning id::float8 as id, ${column}::float8 as ref, lease::float8 as lease, attempts as attempt,
      done_until::float8 as "doneUntil"`,
    { prepare: true },
  );
  return claim;
}

export const hasLease = ({ id, lease }: Pick<Claim, "id" | "lease">): Sql =>
  sql`k.id = ${id} and k.lease = ${lease} and k.lease_until is not null`;

/** Updates the row of `claim`; `also` is a CTE of the same statement. @throws LeaseLost */
async function setHeld(db: Connection, claim: Claim, set: Sql, also?: Sql): Promise<void> {
  const fenced = await db.query(
    sql`
    with fenced as (
      update ${db.schema}.work k set ${set} where ${hasLease(claim)} returning k.id
    )${also ? sql`, ${also}` : empty}
    select id from fenced`,
    { prepare: true },
  );
  if (fenced.length === 0) throw new LeaseLost();
}

export async function renewWork(db: Connection, claim: Claim, leaseMs: number): Promise<void> {
  await setHeld(db, claim, sql`lease_until = ${afterMs(db, leaseMs)}`);
}

export async function keepProgress(db: Connection, claim: Claim, progress: object): Promise<void> {
  await setHeld(db, claim, sql`progress = ${JSON.stringify(progress)}::jsonb`);
}

export interface WorkDone {
  readonly doneUntil: number;
  readonly more?: boolean | undefined;
  /** When the work was loaded; null keeps the old time. @default now */
  readonly at?: Date | null;
}

/** Completes and releases claimed work; marks set meanwhile stay. @throws LeaseLost */
export async function completeWork(
  db: Connection,
  claim: Claim,
  { doneUntil, more = false, at }: WorkDone,
  also?: Sql,
): Promise<void> {
  const doneAt = at === null ? empty : sql`done_at = ${at ? sql`${at}::timestamptz` : db.now()},`;
  const set = sql`${doneAt} done_until = ${doneUntil}, progress = null, attempts = 0, error = null, output = null, lease_until = null, due_since = null
    ${more ? sql`, retry_at = least(retry_at, ${db.now()})` : empty}`;
  await setHeld(db, claim, set, also);
}

/** Why there is nothing to do. */
export type SkipReason =
  /** Nothing is stored of the thread, user or app. */
  | "not_found"
  /** Another worker has it, or it waits for its next try. */
  | "not_due"
  | "already_running"
  /** The last turn waits for its tools. */
  | "round_open"
  /** Too few messages or turns: of the thread, or since the last time. */
  | "too_early"
  | "too_few_new"
  | "nothing_new"
  /** A run of consolidation would close much: an operator decides. */
  | "waits_for_operator"
  | "no_user"
  | "no_app"
  /** The app has no more notes than it may keep, or may lose none of them. */
  | "within_limit"
  | "all_pinned";

/** Work that ends before a model is asked. */
export type NoWork = "lost" | "deferred" | SkipReason;

export async function skipWork(
  db: Connection,
  claim: Claim,
  done: WorkDone,
  reason: SkipReason,
): Promise<SkipReason> {
  await completeWork(db, claim, done);
  return reason;
}

interface TryError {
  readonly error: string;
  readonly output: string | null;
}

/**
 * Releases claimed work until `until` or an earlier mark, without counting a try.
 * @param until a time of the database, or milliseconds from now: this process may have another time
 * @param failed why the try failed; without it the error of an earlier one stays
 * @throws LeaseLost
 */
export async function deferWork(
  db: Connection,
  claim: Claim,
  until: Date | number,
  failed?: TryError,
): Promise<"deferred"> {
  const dueAt = typeof until === "number" ? afterMs(db, until) : sql`${until}::timestamptz`;
  const shown = failed ? sql`, error = ${failed.error}, output = ${failed.output}` : empty;
  const set = sql`attempts = attempts - 1, retry_at = least(retry_at, ${dueAt}),
    due_since = coalesce(due_since, taken_at), lease_until = null${shown}`;
  await setHeld(db, claim, set);
  return "deferred";
}

/** Releases work after a failed try. @param retryMs null: never retried @throws LeaseLost */
export async function failWork(
  db: Connection,
  claim: Claim,
  { error, output, retryMs }: TryError & { readonly retryMs: number | null },
): Promise<void> {
  await setHeld(
    db,
    claim,
    sql`error = ${error}, output = ${output}, retry_at = ${afterMs(db, retryMs)}, lease_until = null`,
  );
}

interface GivenUp extends TryError {
  readonly done: WorkDone;
  readonly range: { readonly startSeq: number; readonly endSeq: number } | null;
}

/** Completes unfinished work and keeps a dead letter. @throws LeaseLost */
export async function giveWorkUp(
  tx: Connection,
  claim: Claim,
  { done, range, error, output }: GivenUp,
): Promise<void> {
  await completeWork(tx, claim, done);
  const progress = JSON.stringify({ ...range, doneUntil: done.doneUntil });
  await tx.query(sql`
    insert into ${tx.schema}.work (kind, thread_ref, owner_ref, done_until, progress, error, output, given_up_at)
    select kind, thread_ref, owner_ref, ${claim.doneUntil}::bigint, ${progress}::jsonb, ${error}, ${output}, ${tx.now()}
    from ${tx.schema}.work where id = ${claim.id}`);
}

const maxCompared = 100_000;

/** The oldest first, of each tenant in turn. */
export async function findDueWork(
  db: Connection,
  { kind, of }: Omit<WorkKey, "ref">,
  limit: number,
) {
  const rows = await db.query<{ ref: string }>(sql`
    select d.ref from (
      select ${refColumn(of)} as ref, coalesce(due_since, lease_until, retry_at) as at from ${db.schema}.work
      where kind = ${kind} and given_up_at is null and ${isDue(db)}
      order by coalesce(lease_until, retry_at) limit ${maxCompared}
    ) d join ${db.schema}.${raw(of)} o on o.id = d.ref
    order by row_number() over (partition by o.tenant_id order by d.at), d.at limit ${limit}`);
  return rows.map(({ ref }) => Number(ref));
}

export interface InsightsDue {
  readonly enabled: boolean;
  readonly everyMs: number;
}

/** Marks a user's insights as due after a new fact or episode. Apps have none. */
export async function markInsights(
  db: Connection,
  { enabled, everyMs: restMs }: InsightsDue,
  { ownerRef: ref, scope }: { readonly ownerRef: OwnerRef; readonly scope: Scope },
): Promise<void> {
  if (!enabled || scope.userId === undefined) return;
  await markWork(db, { kind: "insights", of: "owner", ref }, { restMs });
}

export async function findOwnerWork(db: Connection, claim: Claim) {
  const [row] = await db.query<ScopeRow & { revision: string; progress: unknown }>(sql`
    select o.tenant_id, o.user_id, o.app_id, o.revision, k.progress
    from ${db.schema}.work k join ${db.schema}.owner o on o.id = k.owner_ref
    where ${hasLease(claim)}`);
  return row
    ? { scope: scopeOf(row), doneUntil: Number(row.revision), progress: row.progress }
    : null;
}

export async function findClaimedThread(db: Connection, claim: Claim) {
  const [row] = await db.query<
    ScopeRow & {
      threadId: string;
      turns: number;
      lastActivityAt: Date;
      lastSeq: number;
    }
  >(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id as "threadId", t.turns,
      t.last_activity_at as "lastActivityAt", coalesce((
        select m.seq from ${db.schema}.message m where m.thread_ref = t.id order by m.seq desc limit 1
      ), -1) as "lastSeq"
    from ${db.schema}.work k join ${db.schema}.thread t on t.id = k.thread_ref
    where ${hasLease(claim)}`);
  return row ? { ...row, scope: scopeOf(row) } : null;
}
