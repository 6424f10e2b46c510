import sql from "sql-template-tag";
import { findThread } from "../conversation/claim-thread.js";
import type { Connection } from "../postgres/connection.js";
import { parseScope, parseThreadId, type ThreadAddress, threadForbidden } from "../scope/scope.js";
import type { Job, Worker } from "./background-work.js";
import type { TaskRuntime } from "./jobs-options.js";
import { endLease, isDue, type Lease, type LeaseTable, takeLeases } from "./lease.js";
import type { Failure, SeqRange } from "./settle-failure.js";

/**
 * What is due of a thread: extracting facts from what its user says, compressing its older turns, or the note that its
 * conversation leaves with its app.
 */
export type ThreadTask = "extract" | "compress" | "note";

/** The right to do a thread's task. */
export interface TaskClaim extends Lease {
  readonly threadRef: number;
  readonly task: ThreadTask;
  /** extract: last seq whose facts were extracted. compress: last turn that was compressed. note: last seq of a note. */
  readonly doneUntil: number;
}

/** Tasks of threads. The cursor is part of the key: what comes after it is another piece of work. */
export const threadTasks: LeaseTable<TaskClaim> = {
  name: "thread_task",
  row: ({ threadRef, task, doneUntil }) =>
    sql`thread_ref = ${threadRef} and task = ${task} and done_until = ${doneUntil}`,
  label: ({ threadRef, task }) => `Task "${task}" of thread ${threadRef}`,
};

/** Marks a thread's task as due now, unless it failed and waits for its next try. */
export async function markTask(
  db: Connection,
  { threadRef, task }: { threadRef: number; task: ThreadTask },
): Promise<void> {
  await db.query(sql`
    insert into ${db.schema}.thread_task as k (thread_ref, task, done_until, retry_at)
    values (${threadRef}, ${task}, ${task === "compress" ? 0 : -1}, ${db.now()})
    on conflict (thread_ref, task) do update set retry_at = case
      when k.attempts > 0 then coalesce(k.retry_at, excluded.retry_at) else excluded.retry_at
    end`);
}

/** How far a task has come when a piece of it is done. */
export interface TaskProgress {
  /** Where the cursor goes. */
  readonly doneUntil: number;
  /** Whether the thread has more to do now. */
  readonly more: boolean;
}

/** Moves the cursor of a claimed task on and gives it back. @throws LeaseLost; nothing is written then. */
export async function completeTask(
  db: Connection,
  claim: TaskClaim,
  { doneUntil, more }: TaskProgress,
): Promise<void> {
  // A round recorded meanwhile has marked the task again: the mark stays.
  const set = sql`done_until = ${doneUntil}, attempts = 0, error = null,
    retry_at = coalesce(retry_at, case when ${more} then ${db.now()} end)`;
  await endLease(db, threadTasks, claim, set);
}

/** Completes a claimed task in which there was nothing to do. @throws LeaseLost */
export async function skipTask(db: Connection, claim: TaskClaim, progress: TaskProgress): Promise<"skipped"> {
  await completeTask(db, claim, progress);
  return "skipped";
}

/** Gives a claimed task back until `until`, or what was marked meanwhile; that was no try. @throws LeaseLost */
export async function deferTask(db: Connection, claim: TaskClaim, until: Date): Promise<"deferred"> {
  await endLease(db, threadTasks, claim, sql`attempts = attempts - 1, retry_at = least(retry_at, ${until})`);
  return "deferred";
}

/** What a claimed task is about. */
export interface TaskWork extends ThreadAddress, TaskProgress {
  readonly messages: readonly { readonly seq: number }[];
}

/** What the graphs of all tasks have in common; `doing` says in log lines what is done to messages. */
export function taskSteps(deps: TaskRuntime, task: ThreadTask, doing: string) {
  return {
    ...{ step: task, doing, table: threadTasks, tries: deps.config.upkeep },
    claim: (address: ThreadAddress) => claimTaskOf(deps, task, address),
    range: seqRange,
    giveUp: giveTaskUp,
  };
}

function seqRange({ messages }: TaskWork): SeqRange {
  const startSeq = messages[0]?.seq ?? 0;
  return { startSeq, endSeq: messages.at(-1)?.seq ?? startSeq };
}

/**
 * Claims a task of the thread named, due or not; null when the thread has none, another worker is at it, or it waits
 * for its next try.
 *
 * @throws MemoryError `MODEL_REQUIRED`, `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`
 */
async function claimTaskOf(
  { db, config, model }: TaskRuntime,
  task: ThreadTask,
  address: ThreadAddress,
): Promise<TaskClaim | null> {
  // Before anything is claimed: without a model nothing can be done.
  model();
  const threadId = parseThreadId(address.threadId);
  const thread = await findThread(db, { scope: parseScope(address.scope), threadId });
  if (thread === null) throw threadForbidden(threadId);
  if (thread === undefined) return null;
  const { threadRef } = thread;
  await markTask(db, { threadRef, task });
  return claimTask(db, { task, threadRef, leaseMs: config.upkeep.leaseMs });
}

/** Moves the cursor past work that was given up, and keeps a dead letter with what the model last said. */
async function giveTaskUp(
  tx: Connection,
  claim: TaskClaim,
  work: TaskWork,
  { message, output }: Failure,
): Promise<void> {
  await completeTask(tx, claim, work);
  const { startSeq, endSeq } = seqRange(work);
  await tx.query(sql`
    insert into ${tx.schema}.dead_letter (thread_ref, task, start_seq, end_seq, output, error, created_at)
    values (${claim.threadRef}, ${claim.task}, ${startSeq}, ${endSeq}, ${output}, ${message}, ${tx.now()})`);
}

/** Works on a task of threads. */
export interface TaskWorker extends Worker {
  /** All that is due of one thread. */
  of(threadRef: number): Job;
}

/**
 * The worker for `task` of all threads; `step` does one claimed piece of it.
 *
 * A thread is claimed when its turn has come, so that no lease runs out in the queue.
 */
export function createTaskWorker(
  db: Connection,
  {
    task,
    leaseMs,
    step,
  }: { task: ThreadTask; leaseMs: number; step: (claim: TaskClaim) => Promise<unknown> },
): TaskWorker {
  const of = (threadRef: number): Job => ({
    ticket: { work: task, ref: threadRef },
    name: `Task "${task}" of thread ${threadRef}`,
    async run() {
      for (;;) {
        const claim = await claimTask(db, { threadRef, task, leaseMs });
        if (!claim) return;
        await step(claim);
      }
    },
  });
  return {
    of,
    works: [task],
    at: ({ ref = 0 }) => of(ref),
    due: async (limit) => (await findDueThreads(db, { task, limit })).map(of),
  };
}

async function claimTask(
  db: Connection,
  { threadRef, task, leaseMs }: { threadRef: number; task: ThreadTask; leaseMs: number },
): Promise<TaskClaim | null> {
  const [row] = await takeLeases<{ done_until: number; attempts: number }, TaskClaim>(db, threadTasks, {
    rows: sql`thread_ref = ${threadRef} and task = ${task}`,
    leaseMs,
    returning: sql`done_until, attempts`,
  });
  return row ? { threadRef, task, doneUntil: row.done_until, attempt: row.attempts } : null;
}

/** Threads whose `task` is due, longest due first. */
async function findDueThreads(
  db: Connection,
  { task, limit }: { task: ThreadTask; limit: number },
): Promise<number[]> {
  const rows = await db.query<{ thread_ref: string }>(sql`
    select thread_ref from ${db.schema}.thread_task
    where task = ${task} and ${isDue(db)}
    order by coalesce(lease_until, retry_at) limit ${limit}`);
  return rows.map((row) => Number(row.thread_ref));
}
