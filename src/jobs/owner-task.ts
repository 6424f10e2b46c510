import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { type OwnerRef, parseScope, type Scope } from "../scope/scope.js";
import { ownerColumns, ownerIs, type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import type { Job, Worker } from "./background-work.js";
import type { TaskRuntime } from "./jobs-options.js";
import { endLease, isDue, isHeld, type Lease, type LeaseTable, setHeld, takeLeases } from "./lease.js";
import type { Failure } from "./settle-failure.js";

/**
 * What is due of a user or an app: compacting an app's notes, insights into a user, or consolidating what is known of
 * either.
 */
export type OwnerTask = "compact" | "insights" | "consolidate";

/** The right to do an owner's task. */
export interface OwnerTaskClaim extends Lease {
  readonly ownerRef: OwnerRef;
  readonly task: OwnerTask;
  /** What the owner's tick was when the last piece of work began that was completed; 0 before there was one. */
  readonly doneUntil: number;
}

/** Tasks of owners. */
export const ownerTasks: LeaseTable<OwnerTaskClaim> = {
  name: "owner_task",
  row: ({ ownerRef, task, doneUntil }) =>
    sql`owner_ref = ${ownerRef} and task = ${task} and done_until = ${doneUntil}`,
  label: ({ ownerRef, task }) => `Task "${task}" of owner ${ownerRef}`,
};

/** What a claimed task is about. */
export interface OwnerTaskWork {
  readonly scope: Scope;
  /** The owner's tick when the work was loaded: what changes later is for the next time. */
  readonly tick: number;
}

/** An owner's task that something has made due. */
export interface DueOwnerTask {
  readonly ownerRef: OwnerRef;
  readonly task: OwnerTask;
  /** @default now */
  readonly dueAt?: Date | null;
  /** Least time since it was last done, in ms. @default none */
  readonly restMs?: number;
}

/** Marks an owner's task as due, unless it failed and waits for its next try, or is due before. */
export async function markOwnerTask(
  db: Connection,
  { ownerRef, task, dueAt = null, restMs = 0 }: DueOwnerTask,
): Promise<void> {
  // Where it was never done, there is nothing to rest from: then the greatest of both is the other.
  const rested = sql`greatest(excluded.retry_at, k.done_at + ${restMs}::float8 * interval '1 millisecond')`;
  await db.query(sql`
    insert into ${db.schema}.owner_task as k (owner_ref, task, retry_at)
    values (${ownerRef}, ${task}, coalesce(${dueAt}::timestamptz, ${db.now()}))
    on conflict (owner_ref, task) do update set retry_at = case
      when k.attempts > 0 then coalesce(k.retry_at, ${rested}) else least(k.retry_at, ${rested})
    end`);
}

/** When insights into users are made. */
export interface InsightsDue {
  readonly enabled: boolean;
  /** Least time between two runs for a user. */
  readonly everyMs: number;
}

/** Marks insights into a user as due, of whom something was learned. An app has none. */
export async function markInsights(
  db: Connection,
  { enabled, everyMs }: InsightsDue,
  { ownerRef, scope }: { readonly ownerRef: OwnerRef; readonly scope: Scope },
): Promise<void> {
  if (!enabled || scope.userId === undefined) return;
  await markOwnerTask(db, { ownerRef, task: "insights", restMs: everyMs });
}

/**
 * Completes a claimed task and gives it back.
 *
 * @param done.tick what changed of the owner until then was looked at.
 * @param done.more whether there is more to do now.
 * @throws LeaseLost; nothing is written then.
 */
export async function completeOwnerTask(
  db: Connection,
  claim: OwnerTaskClaim,
  { tick, more = false }: { readonly tick: number; readonly more?: boolean },
): Promise<void> {
  // What was marked meanwhile stays marked.
  const set = sql`done_until = ${tick}, done_at = ${db.now()}, progress = null, attempts = 0, error = null,
    retry_at = coalesce(retry_at, case when ${more} then ${db.now()} end)`;
  await endLease(db, ownerTasks, claim, set);
}

/** Completes a claimed task in which there was nothing to do. @throws LeaseLost */
export async function skipOwnerTask(
  db: Connection,
  claim: OwnerTaskClaim,
  { tick }: { readonly tick: number },
): Promise<"skipped"> {
  await completeOwnerTask(db, claim, { tick });
  return "skipped";
}

/**
 * Gives a claimed task back in which there was nothing to do, as if it had not been looked for: when it was last done stays.
 *
 * @throws LeaseLost
 */
export async function leaveOwnerTask(
  db: Connection,
  claim: OwnerTaskClaim,
  { tick }: { readonly tick: number },
): Promise<"skipped"> {
  await endLease(db, ownerTasks, claim, sql`done_until = ${tick}, attempts = 0, error = null`);
  return "skipped";
}

/** Gives a claimed task back until `until`; that was no try. @throws LeaseLost */
export async function deferOwnerTask(
  db: Connection,
  claim: OwnerTaskClaim,
  until: Date,
): Promise<"deferred"> {
  await endLease(db, ownerTasks, claim, sql`attempts = attempts - 1, retry_at = ${until}`);
  return "deferred";
}

/**
 * Writes how far a claimed task has come, for whoever takes it over. @throws LeaseLost
 *
 * @param progress what can be written as JSON.
 */
export async function keepProgress(db: Connection, claim: OwnerTaskClaim, progress: object): Promise<void> {
  await setHeld(db, ownerTasks, claim, sql`progress = ${JSON.stringify(progress)}::jsonb`);
}

/** The owner behind `claim`, and how far its work has come; null when the claim was lost. */
export async function findOwnerWork(
  db: Connection,
  claim: OwnerTaskClaim,
): Promise<(OwnerTaskWork & { readonly doneAt: Date | null; readonly progress: unknown }) | null> {
  const [row] = await db.query<ScopeRow & { tick: string; done_at: Date | null; progress: unknown }>(sql`
    select o.tenant_id, o.user_id, o.app_id, o.tick, k.done_at, k.progress
    from ${db.schema}.owner_task k join ${db.schema}.owner o on o.id = k.owner_ref
    where ${isHeld(ownerTasks, claim)}`);
  if (!row) return null;
  const { tick, done_at: doneAt, progress } = row;
  return { scope: scopeOf(row), tick: Number(tick), doneAt, progress };
}

/** What the graphs of all tasks of owners have in common; `doing` says in log lines what is done. All of them can wait. */
export function ownerTaskSteps(deps: TaskRuntime, task: OwnerTask, doing: string) {
  return {
    ...{ step: task, doing, table: ownerTasks, tries: deps.config.upkeep },
    claim: ({ scope }: { readonly scope: Scope }) => claimTaskOf(deps, task, scope),
    giveUp: giveTaskUp,
    defer: (claim: OwnerTaskClaim, until: Date) => deferOwnerTask(deps.db, claim, until),
  };
}

/**
 * Claims a task of the scope's owner, due or not; null when there is no such owner, another worker is at it, or it waits
 * for its next try.
 *
 * @throws MemoryError `MODEL_REQUIRED`, `SCOPE_REQUIRED`
 */
async function claimTaskOf(
  { db, config, model }: TaskRuntime,
  task: OwnerTask,
  scope: Scope,
): Promise<OwnerTaskClaim | null> {
  // Before anything is claimed: without a model nothing can be done.
  model();
  const [owner] = await db.query<{ id: string }>(
    sql`select o.id from ${db.schema}.owner o where ${ownerIs(ownerColumns(parseScope(scope)))}`,
  );
  if (!owner) return null;
  const ownerRef = Number(owner.id);
  await markOwnerTask(db, { ownerRef, task });
  return claimOwnerTask(db, { task, ownerRef, leaseMs: config.upkeep.leaseMs });
}

/** Ends work that was given up until something new is to be done, and keeps a dead letter with what the model last said. */
async function giveTaskUp(
  tx: Connection,
  claim: OwnerTaskClaim,
  { tick }: OwnerTaskWork,
  { message, output }: Failure,
): Promise<void> {
  await completeOwnerTask(tx, claim, { tick });
  await tx.query(sql`
    insert into ${tx.schema}.dead_letter (owner_ref, task, output, error, created_at)
    values (${claim.ownerRef}, ${claim.task}, ${output}, ${message}, ${tx.now()})`);
}

/** Works on a task of owners. */
export interface OwnerTaskWorker extends Worker {
  /** All that is due of one owner. */
  of(ownerRef: OwnerRef): Job;
}

/**
 * The worker for `task` of all owners; `step` does one claimed piece of it.
 *
 * @param input.mark finds owners that have become due and marks them, before each look. @default nobody
 */
export function createOwnerTaskWorker(
  db: Connection,
  input: {
    readonly task: OwnerTask;
    readonly leaseMs: number;
    readonly step: (claim: OwnerTaskClaim) => Promise<unknown>;
    readonly mark?: (limit: number) => Promise<void>;
    readonly intervalMs?: number;
  },
): OwnerTaskWorker {
  const { task, leaseMs, step, mark, intervalMs } = input;
  const of = (ownerRef: OwnerRef): Job => ({
    ticket: { work: task, ref: ownerRef },
    name: `Task "${task}" of owner ${ownerRef}`,
    async run() {
      for (;;) {
        const claim = await claimOwnerTask(db, { ownerRef, task, leaseMs });
        if (!claim) return;
        await step(claim);
      }
    },
  });
  return {
    of,
    works: [task],
    at: ({ ref = 0 }) => of(ref),
    ...(intervalMs !== undefined && { intervalMs }),
    async due(limit) {
      await mark?.(limit);
      return (await findDueOwners(db, { task, limit })).map(of);
    },
  };
}

/** Takes a task that is due; null where it is not, or another worker is at it. */
export async function claimOwnerTask(
  db: Connection,
  { task, ownerRef, leaseMs }: { task: OwnerTask; ownerRef: OwnerRef; leaseMs: number },
): Promise<OwnerTaskClaim | null> {
  const [row] = await takeLeases<{ done_until: string; attempts: number }, OwnerTaskClaim>(db, ownerTasks, {
    rows: sql`owner_ref = ${ownerRef} and task = ${task}`,
    leaseMs,
    returning: sql`done_until, attempts`,
  });
  return row ? { ownerRef, task, doneUntil: Number(row.done_until), attempt: row.attempts } : null;
}

/** Owners whose `task` is due, longest due first. */
async function findDueOwners(
  db: Connection,
  { task, limit }: { task: OwnerTask; limit: number },
): Promise<OwnerRef[]> {
  const rows = await db.query<{ owner_ref: string }>(sql`
    select owner_ref from ${db.schema}.owner_task
    where task = ${task} and ${isDue(db)}
    order by coalesce(lease_until, retry_at) limit ${limit}`);
  return rows.map((row) => Number(row.owner_ref));
}
