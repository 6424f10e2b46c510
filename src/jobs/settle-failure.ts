import { isGraphBubbleUp } from "@langchain/langgraph";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { type EventStep, insertEvent } from "../events/event-log.js";
import { errorLine, type LogFields } from "../logger.js";
import { malformedOutput } from "../models/model-answer.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { storable } from "../text/storable-text.js";
import type { JobRuntime, Tries } from "./jobs-options.js";
import { failLease, type Lease, LeaseLost, type LeaseTable } from "./lease.js";

/** Why background work did not succeed. */
export interface Failure {
  readonly code: MemoryErrorCode | "LEASE_LOST" | "UNEXPECTED";
  /** For people, without words of the conversation. */
  readonly message: string;
  /** What the model said instead of an answer. */
  readonly output: string | null;
}

/** Longest output kept, in characters; an answer of more tokens than a model may give. */
const mostOutputCharacters = 100_000;

/** `error` as background work records it. */
export function toFailure(error: unknown): Failure {
  const output = malformedOutput(error);
  return {
    code: MemoryError.is(error) ? error.code : error instanceof LeaseLost ? "LEASE_LOST" : "UNEXPECTED",
    message: errorLine(error),
    output: output === null ? null : storable(output.slice(0, mostOutputCharacters)),
  };
}

/** The failure of work that ended without an error and without a result. */
export function ownFailure(message: string): Failure {
  return { code: "UNEXPECTED", message, output: null };
}

/**
 * `step`'s update, or its error as state, so that a later node records it. Interrupts and other control flow of
 * LangGraph pass.
 */
export async function attempted<Update>(step: () => Promise<Update>): Promise<Update | { error: Failure }> {
  try {
    return await step();
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    return { error: toFailure(error) };
  }
}

/** Longest wait between two tries: an hour, so that a model back from an outage is found the same hour. */
const longestDelayMs = 3_600_000;

/**
 * How long to wait after the `attempts`-th failed try: `firstDelayMs`, then twice as long each time.
 *
 * @param attempts 1 for the first failure.
 */
export function retryDelayMs(attempts: number, firstDelayMs: number): number {
  // 2^22 ms is over an hour, and more doublings would only run into infinity.
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(22, Math.max(0, attempts - 1)));
}

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

/** Whose work it is: a thread's, or all of what a user or an app has. */
export interface JobAddress {
  readonly scope: Scope;
  readonly threadId?: string;
}

/** What there is to know of a kind of work when it fails. */
export interface Attempts<Claim extends Lease, Work extends JobAddress> {
  readonly table: LeaseTable<Claim>;
  /** What its events are counted under. */
  readonly step: EventStep;
  readonly tries: Tries;
  /** What is done to messages, for log lines: "Extracting facts from". */
  readonly doing: string;
  /** The messages that `work` is about. @default it is about an owner, and not about a thread */
  range?(work: Work): SeqRange;
  /** What holds until the next try, for log lines. @default "Nothing was written" */
  readonly meanwhile?: string;
  /**
   * Ends work whose last try failed, within a transaction: its dead letter is kept, and it is not due any more.
   *
   * @default it is left failed
   */
  giveUp?(tx: Connection, claim: Claim, work: Work, failure: Failure): Promise<void>;
  /**
   * Gives a claim back until then: work that can wait does so while its tenant's energy is low. That was no try.
   *
   * @default it waits for nothing
   * @throws LeaseLost
   */
  defer?(claim: Claim, until: Date): Promise<unknown>;
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
export async function settleFailure<Claim extends Lease, Work extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Claim, Work>,
  failed: FailedTry<Claim, Work>,
): Promise<JobStatus> {
  const { claim, work, failure } = failed;
  if (failure.code === "LEASE_LOST") return "lost";
  const { maxAttempts, maxFailures } = of.tries;
  const isLast = claim.attempt >= (failure.code === "MODEL_OUTPUT_INVALID" ? maxAttempts : maxFailures);
  try {
    if (isLast && work && of.giveUp) return await giveUp(deps, of, { claim, work, failure });
    return await tryAgain(deps, of, failed, isLast && !of.giveUp);
  } catch (error) {
    if (error instanceof LeaseLost) return "lost";
    throw error;
  }
}

/**
 * Puts `work` off where it can wait and its tenant's energy is low; false where it goes on. A log line and an event tell of it.
 *
 * @throws LeaseLost
 */
export async function putOff<Claim extends Lease, Work extends JobAddress>(
  { db, logger, usage }: JobRuntime,
  of: Attempts<Claim, Work>,
  claim: Claim,
  work: Work,
): Promise<boolean> {
  const until = of.defer ? await usage.pausedUntil(work.scope) : null;
  if (until === null) return false;
  await of.defer?.(claim, until);
  const { step } = of;
  logger.debug(`${lineOf(of, claim, work)} waits for energy until ${until.toISOString()}`, {
    ...{ step, ...placeOf(work) },
  });
  const { scope, threadId } = work;
  await insertEvent(db, { scope, threadId, step, op: "create", status: "skipped", detail: "LOW_ENERGY" });
  return true;
}

/** Shortest wait after the work could not be read: of some work nothing counts such tries to an end. */
const shortestWaitMs = 1_000;

async function tryAgain<Claim extends Lease, Work extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Claim, Work>,
  { claim, work, failure }: FailedTry<Claim, Work>,
  isLast: boolean,
): Promise<JobStatus> {
  const { table, step, tries, meanwhile = "Nothing was written" } = of;
  const waitMs = Math.max(work ? 0 : shortestWaitMs, retryDelayMs(claim.attempt, tries.retryDelayMs));
  const delayMs = isLast ? null : waitMs;
  await failLease(deps.db, table, claim, { error: failure.message, retryDelayMs: delayMs });
  const fields = { ...fieldsOf(of, claim, failure, work), retryMs: delayMs };
  deps.logger.debug(`${(table.statusLabel ?? table.label)(claim)} status updated to failed`, fields);
  const what = lineOf(of, claim, work);
  deps.logger.warn(
    `${what} failed: ${failure.message} ` +
      `${meanwhile}; ${delayMs === null ? "no further try" : `next try in ${delayMs} ms`}.`,
    fields,
  );
  // Not the message: some providers quote the prompt in theirs.
  if (work) await insertFailure(deps.db, step, work, failure.code);
  if (delayMs !== null) deps.onRetry(delayMs);
  return "failed";
}

async function giveUp<Claim extends Lease, Work extends JobAddress>(
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
  const fields = fieldsOf(of, claim, failure, work);
  deps.logger.error(
    `${lineOf(of, claim, work)} was given up after ${claim.attempt} tries: ${failure.message}`,
    fields,
  );
  return "dead_letter";
}

/** What a line about a failed try is about. */
function fieldsOf<Claim extends Lease, Work extends JobAddress>(
  { step, range }: Pick<Attempts<Claim, Work>, "step" | "range">,
  { attempt }: Lease,
  { code }: Failure,
  work: Work | null | undefined,
): LogFields {
  return { step, attempt, code, ...(work && { ...placeOf(work), ...range?.(work) }) };
}

function placeOf({ threadId }: JobAddress): Pick<LogFields, "threadId"> {
  return threadId === undefined ? {} : { threadId };
}

function lineOf<Claim extends Lease, Work extends JobAddress>(
  { doing, range, table }: Pick<Attempts<Claim, Work>, "doing" | "range" | "table">,
  claim: Claim,
  work: Work | null,
): string {
  const { startSeq, endSeq } = (work && range?.(work)) ?? {};
  return startSeq === undefined
    ? table.label(claim)
    : `${doing} messages ${startSeq}-${endSeq} for ${work?.threadId}`;
}

async function insertFailure(
  db: Connection,
  step: EventStep,
  { scope, threadId }: JobAddress,
  detail: string,
): Promise<void> {
  await insertEvent(db, { scope, threadId, step, op: "create", status: "error", detail });
}
