import { retryDelayMs } from "../domain/retry-delay.js";
import type { Scope } from "../domain/scope.js";
import type { ThreadTaskClaim } from "../store/claim-thread-task.js";
import { insertDeadLetter } from "../store/insert-dead-letter.js";
import { insertEvent } from "../store/insert-event.js";
import { completeThreadTask, failThreadTask } from "../store/settle-thread-task.js";
import { type Failure, failureLine } from "./failure.js";
import type { TaskStatus } from "./task-status.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

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
  deps: UpkeepDeps,
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
  { db, config, logger, onRetry }: UpkeepDeps,
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

async function giveUp(deps: UpkeepDeps, task: FailedTask, failure: Failure): Promise<TaskStatus> {
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
