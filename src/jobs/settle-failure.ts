import { MemoryError } from "../errors.js";
import { type EventStep, insertEvent } from "../events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { ThreadAddress } from "../scope/thread-id.js";
import { type Failure, failureLine, retryDelayMs } from "./failure.js";
import type { JobRuntime, Tries } from "./jobs-options.js";
import { failLease, type Lease, type LeaseTable } from "./lease.js";

/**
 * How a job ended: "skipped": there was nothing to do; "deferred" to a later time; "failed", to be tried again unless
 * that was the last try; "dead_letter": given up, and kept for people to look at; "lost": another worker took it over.
 */
export type JobStatus = "completed" | "skipped" | "deferred" | "failed" | "dead_letter" | "lost";

/** A stretch of a thread's messages, both ends included. */
export interface SeqRange {
  readonly startSeq: number;
  readonly endSeq: number;
}

/** What there is to know of a kind of work when it fails. */
export interface Attempts<Claim extends Lease, Work extends ThreadAddress> {
  readonly table: LeaseTable<Claim>;
  /** What its events are counted under. */
  readonly step: EventStep;
  readonly tries: Tries;
  /** What is done to messages, for log lines: "Extracting facts from". */
  readonly doing: string;
  /** The messages that `work` is about. */
  range(work: Work): SeqRange;
  /** What holds until the next try, for log lines. @default "Nothing was written" */
  readonly meanwhile?: string;
  /**
   * Ends work whose last try failed, within a transaction: its dead letter is kept, and it is not due any more.
   *
   * @default it is left failed
   */
  giveUp?(tx: Connection, claim: Claim, work: Work, failure: Failure): Promise<void>;
}

/** A try that did not succeed. */
export interface FailedTry<Claim, Work> {
  readonly claim: Claim;
  /** Null when not even that could be read: then there is nothing to make a dead letter of, and no event. */
  readonly work: Work | null;
  readonly failure: Failure;
}

/**
 * Records a try that failed: the work is due again later, or is given up after the last try. An event tells of either.
 */
export async function settleFailure<Claim extends Lease, Work extends ThreadAddress>(
  deps: JobRuntime,
  of: Attempts<Claim, Work>,
  failed: FailedTry<Claim, Work>,
): Promise<JobStatus> {
  const { claim, work, failure } = failed;
  if (failure.code === "LEASE_LOST") return "lost";
  const { maxAttempts, maxFailures = maxAttempts } = of.tries;
  const isLast = claim.attempt >= (failure.code === "MODEL_OUTPUT_INVALID" ? maxAttempts : maxFailures);
  try {
    if (isLast && work && of.giveUp) return await giveUp(deps, of, { claim, work, failure });
    return await tryAgain(deps, of, failed, isLast && !of.giveUp);
  } catch (error) {
    if (MemoryError.is(error, "LEASE_LOST")) return "lost";
    throw error;
  }
}

/** Shortest wait after the work could not be read: of some work nothing counts such tries to an end. */
const shortestWaitMs = 1_000;

async function tryAgain<Claim extends Lease, Work extends ThreadAddress>(
  deps: JobRuntime,
  of: Attempts<Claim, Work>,
  { claim, work, failure }: FailedTry<Claim, Work>,
  isLast: boolean,
): Promise<JobStatus> {
  const { table, step, tries, meanwhile = "Nothing was written" } = of;
  const waitMs = Math.max(work ? 0 : shortestWaitMs, retryDelayMs(claim.attempt, tries.retryDelayMs));
  const delayMs = isLast ? null : waitMs;
  await failLease(deps.db, table, claim, { error: failure.message, retryDelayMs: delayMs });
  deps.logger.debug(`${table.label(claim)} status updated to failed`);
  const what = work ? lineOf(of, work) : table.label(claim);
  deps.logger.warn(
    `${what} failed: ${failureLine(failure, deps.config.telemetry)} ` +
      `${meanwhile}; ${delayMs === null ? "no further try" : `next try in ${delayMs} ms`}.`,
  );
  // Not the message: some providers quote the prompt in theirs.
  if (work) await insertFailure(deps.db, step, work, failure.code);
  if (delayMs !== null) deps.onRetry(delayMs);
  return "failed";
}

async function giveUp<Claim extends Lease, Work extends ThreadAddress>(
  deps: JobRuntime,
  of: Attempts<Claim, Work>,
  { claim, work, failure }: FailedTry<Claim, Work> & { readonly work: Work },
): Promise<JobStatus> {
  // Kept without what the model said where that cannot be redacted.
  const output = failure.output && (await deps.redactor.text(failure.output).catch(() => null));
  await deps.db.transaction(async (tx) => {
    await of.giveUp?.(tx, claim, work, { ...failure, output });
    await insertFailure(tx, of.step, work, "DEAD_LETTER");
  });
  const reason = failureLine(failure, deps.config.telemetry);
  deps.logger.error(`${lineOf(of, work)} was given up after ${claim.attempt} tries: ${reason}`);
  return "dead_letter";
}

function lineOf<Work extends ThreadAddress>(
  { doing, range }: Pick<Attempts<Lease, Work>, "doing" | "range">,
  work: Work,
): string {
  const { startSeq, endSeq } = range(work);
  return `${doing} messages ${startSeq}-${endSeq} for ${work.threadId}`;
}

async function insertFailure(
  db: Connection,
  step: EventStep,
  { scope, threadId }: ThreadAddress,
  detail: string,
): Promise<void> {
  await insertEvent(db, { scope, threadId, step, op: "create", status: "error", detail });
}
