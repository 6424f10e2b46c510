import sql from "sql-template-tag";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { insertEvent } from "../events/event-log.js";
import { errorLine, errorWords } from "../logger.js";
import { malformedOutput } from "../models/model-failure.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import type { UpkeepRuntime } from "./jobs-options.js";
import {
  completeThreadTask,
  failThreadTask,
  renewThreadTaskLease,
  type TaskStatus,
  type ThreadTask,
  type ThreadTaskClaim,
} from "./thread-task.js";

/** Longest wait between two attempts: an hour, so that a model back from an outage is found the same hour. */
const longestDelayMs = 3_600_000;

/**
 * How long to wait after the `attempts`-th failed attempt: `firstDelayMs`, then twice as long each time.
 *
 * @param attempts 1 for the first failure.
 */
export function retryDelayMs(attempts: number, firstDelayMs: number): number {
  // 2^22 ms is over an hour, and more doublings would only run into infinity.
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(22, Math.max(0, attempts - 1)));
}

/** Why background work did not succeed. */
export interface Failure {
  readonly code: MemoryErrorCode | "UNEXPECTED";
  /** For people, without words of the conversation. */
  readonly message: string;
  /** What the error itself says, which may quote anything. Not for tables, and for logs only where they may hold it. */
  readonly words: string | null;
  /** What the model said instead of an answer. */
  readonly output: string | null;
}

/** A try that ended with the worker; found when one more would be too many. */
export const workerStopped: Failure = {
  code: "UNEXPECTED",
  message: "The worker stopped before it was done.",
  words: null,
  output: null,
};

/** Longest output kept; an answer of more tokens than a model may give. */
const mostOutputCharacters = 100_000;

/** `error` as background work records it. */
export function toFailure(error: unknown): Failure {
  const output = malformedOutput(error);
  return {
    code: MemoryError.is(error) ? error.code : "UNEXPECTED",
    message: errorLine(error),
    words: errorWords(error),
    output: output === null ? null : storable(output, mostOutputCharacters),
  };
}

/** What logs tell of `failure`; with `content`, what the error itself says too. */
export function failureLine({ message, words }: Failure, { content }: { readonly content: boolean }): string {
  return content && words !== null && words !== message ? `${message} (${words})` : message;
}

function storable(text: string, mostCharacters: number): string {
  return text
    .slice(0, mostCharacters)
    .replaceAll("\u0000", "")
    .replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** Work that was given up: what it was about, and what the model last said. */
interface DeadLetter {
  readonly threadRef: number;
  readonly task: ThreadTask;
  /** The messages it was about, both ends included. */
  readonly startSeq: number;
  readonly endSeq: number;
  /** The model's output, where there was one. */
  readonly output: string | null;
  readonly error: string;
}

/** Keeps `letter` for people to look at. */
async function insertDeadLetter(db: Connection, letter: DeadLetter): Promise<void> {
  await db.query(sql`
    insert into ${db.schema}.dead_letter (thread_ref, task, start_seq, end_seq, output, error, created_at)
    values (${letter.threadRef}, ${letter.task}, ${letter.startSeq}, ${letter.endSeq}, ${letter.output},
      ${letter.error}, ${db.now()})`);
}

/** Extends the lease of `claim`. @throws MemoryError `LEASE_LOST` when another worker took the task over. */
export async function renewLease({ db, config }: UpkeepRuntime, claim: ThreadTaskClaim): Promise<void> {
  if (await renewThreadTaskLease(db, claim, config.upkeep.leaseMs)) return;
  throw new MemoryError("LEASE_LOST", "Another worker took this task over.");
}

/** Work on a thread that failed. */
export interface FailedTask {
  readonly claim: ThreadTaskClaim;
  readonly scope: Scope;
  readonly threadId: string;
  /** The messages it was about, both ends included. */
  readonly startSeq: number;
  readonly endSeq: number;
  /** Where the cursor goes when the work is given up. */
  readonly after: { readonly doneUntil: number; readonly more: boolean };
}

/**
 * Records a failed try: the task is tried again later, or, after the last try, becomes a dead letter and the
 * cursor moves on. An event tells of either.
 */
export async function settleFailure(
  deps: UpkeepRuntime,
  task: FailedTask,
  failure: Failure,
): Promise<TaskStatus> {
  const { claim, scope, threadId } = task;
  const { maxAttempts, maxFailures, retryDelayMs: firstDelayMs } = deps.config.upkeep;
  const tries = failure.code === "MODEL_OUTPUT_INVALID" ? maxAttempts : maxFailures;
  if (claim.attempt >= tries) return giveUp(deps, task, failure);

  const delayMs = retryDelayMs(claim.attempt, firstDelayMs);
  if (!(await failThreadTask(deps.db, claim, { error: failure.message, retryDelayMs: delayMs })))
    return "lost";
  const reason = failureLine(failure, deps.config.telemetry);
  deps.logger.warn(`${describe(task)} failed: ${reason} Next try in ${delayMs} ms.`);
  await insertEvent(deps.db, {
    ...{ scope, threadId, step: claim.task, op: "create", status: "error" },
    detail: failure.code,
  });
  deps.onRetry(delayMs);
  return "failed";
}

/** Shortest wait after the work could not be read: nothing counts such tries to an end. */
const shortestWaitMs = 1_000;

/** Records a try of which not even the work could be read: it is tried again later. */
export async function settleUnread(
  { db, config, logger, onRetry }: UpkeepRuntime,
  claim: ThreadTaskClaim,
  failure: Failure,
): Promise<TaskStatus> {
  const delayMs = Math.max(shortestWaitMs, retryDelayMs(claim.attempt, config.upkeep.retryDelayMs));
  if (!(await failThreadTask(db, claim, { error: failure.message, retryDelayMs: delayMs }))) return "lost";
  const reason = failureLine(failure, config.telemetry);
  logger.warn(
    `Task "${claim.task}" of thread ${claim.threadRef} failed: ${reason} Next try in ${delayMs} ms.`,
  );
  onRetry(delayMs);
  return "failed";
}

async function giveUp(deps: UpkeepRuntime, task: FailedTask, failure: Failure): Promise<TaskStatus> {
  const { claim, scope, threadId, startSeq, endSeq } = task;
  // Kept without what the model said where that cannot be redacted.
  const output = failure.output && (await deps.redactor.text(failure.output).catch(() => null));
  const settled = await deps.db.transaction(async (tx) => {
    if (!(await completeThreadTask(tx, claim, task.after))) return false;
    const { threadRef, task: name } = claim;
    const { message } = failure;
    await insertDeadLetter(tx, { threadRef, task: name, startSeq, endSeq, output, error: message });
    await insertEvent(tx, {
      ...{ scope, threadId, step: name, op: "create", status: "error" },
      detail: "DEAD_LETTER",
    });
    return true;
  });
  if (!settled) return "lost";
  const reason = failureLine(failure, deps.config.telemetry);
  deps.logger.error(`${describe(task)} was given up after ${claim.attempt} tries: ${reason}`);
  return "dead_letter";
}

function describe({ claim, threadId, startSeq, endSeq }: FailedTask): string {
  const work = claim.task === "extract" ? "Extracting facts from" : "Compressing";
  return `${work} messages ${startSeq}-${endSeq} of ${threadId}`;
}
