import { isGraphBubbleUp } from "@langchain/langgraph";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { type EventStep, insertEvent } from "../events/event-log.js";
import { errorLine, type LogFields } from "../logger.js";
import { malformedOutput } from "../models/model-answer.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope, ThreadAddress } from "../scope/scope.js";
import { storable } from "../text/storable-text.js";
import type { JobRuntime, Tries } from "./jobs-options.js";
import { jobName, type WorkKind } from "./work-kinds.rule.js";
import { type Claim, deferWork, failWork, giveWorkUp, LeaseLost, type WorkDone } from "./work-table.js";

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
export interface Attempts<Found extends JobAddress> {
  readonly kind: WorkKind;
  /** What its events are counted under. */
  readonly step: EventStep;
  readonly tries: Tries;
  /** What is done, for log lines: "Extracting facts from" messages. */
  readonly doing: string;
  /** The messages that `work` is about. @default it is about an owner, and not about a thread */
  range?(work: Found): SeqRange;
  /** What holds until the next try, for log lines. @default "Nothing was written" */
  readonly meanwhile?: string;
  /** What log lines about its status call the row that it makes. @default none is told */
  rowOf?(work: Found): string;
  /** Done in the transaction that records a failed try. @default nothing */
  onFailed?(tx: Connection, claim: Claim): Promise<void>;
  /**
   * Where the work goes on when a piece of it is given up: that is kept as a dead letter.
   *
   * @default it is left failed
   */
  after?(work: Found): WorkDone;
  /** Whether it waits while its tenant's energy is low. That is no try. @default false */
  readonly waits?: boolean;
}

/** A stretch of a thread's messages that is worked on, and where the work goes on after it. */
export interface ThreadWork extends ThreadAddress, WorkDone {
  readonly messages: readonly { readonly seq: number }[];
}

/** What kinds of threads' work have in common. */
export const threadWork = {
  of: "thread",
  range({ messages }: ThreadWork): SeqRange {
    const startSeq = messages[0]?.seq ?? 0;
    return { startSeq, endSeq: messages.at(-1)?.seq ?? startSeq };
  },
  after: ({ doneUntil, more = false }: ThreadWork): WorkDone => ({ doneUntil, more }),
} as const;

/** Work on what a user or an app has. */
export interface OwnerWork {
  readonly scope: Scope;
  /** The owner's revision when the work was loaded: what changes later is for the next time. */
  readonly doneUntil: number;
}

/** What kinds of owners' work have in common. All of them can wait. */
export const ownerWork = {
  of: "owner",
  waits: true,
  after: ({ doneUntil }: OwnerWork): WorkDone => ({ doneUntil }),
} as const;

/** A try that did not succeed. */
export interface FailedTry<Found> {
  readonly claim: Claim;
  /** Null when not even that could be read: then there is nothing to make a dead letter of, and no event. */
  readonly work: Found | null;
  readonly failure: Failure;
}

/** Records a try that failed: the work is due again later, or is given up after the last try. An event says so. */
export async function settleFailure<Found extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Found>,
  failed: FailedTry<Found>,
): Promise<JobStatus> {
  const { claim, work, failure } = failed;
  if (failure.code === "LEASE_LOST") return "lost";
  const { maxAttempts, maxFailures } = of.tries;
  const isLast = claim.attempt >= (failure.code === "MODEL_OUTPUT_INVALID" ? maxAttempts : maxFailures);
  try {
    if (isLast && work && of.after) return await giveUp(deps, of, { claim, work, failure }, of.after(work));
    return await tryAgain(deps, of, failed, isLast && !of.after);
  } catch (error) {
    if (error instanceof LeaseLost) return "lost";
    throw error;
  }
}

/**
 * Puts `work` off where it can wait and its tenant's energy is low; false where it goes on. A log line and an event say so.
 *
 * @throws LeaseLost
 */
export async function putOff<Found extends JobAddress>(
  { db, logger, usage }: JobRuntime,
  of: Attempts<Found>,
  claim: Claim,
  work: Found,
): Promise<boolean> {
  const until = of.waits ? await usage.pausedUntil(work.scope) : null;
  if (until === null) return false;
  await deferWork(db, claim, until);
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

async function tryAgain<Found extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Found>,
  { claim, work, failure }: FailedTry<Found>,
  isLast: boolean,
): Promise<JobStatus> {
  const { step, tries, onFailed, meanwhile = "Nothing was written" } = of;
  const waitMs = Math.max(work ? 0 : shortestWaitMs, retryDelayMs(claim.attempt, tries.retryDelayMs));
  const retryMs = isLast ? null : waitMs;
  const outcome = { error: failure.message, retryMs };
  if (onFailed) {
    await deps.db.transaction(async (tx) => {
      await failWork(tx, claim, outcome);
      await onFailed(tx, claim);
    });
  } else await failWork(deps.db, claim, outcome);
  const fields = { ...fieldsOf(of, claim, failure, work), retryMs };
  if (work && of.rowOf) deps.logger.debug(`${of.rowOf(work)} status updated to failed`, fields);
  deps.logger.warn(
    `${lineOf(of, claim, work)} failed: ${failure.message} ` +
      `${meanwhile}; ${retryMs === null ? "no further try" : `next try in ${retryMs} ms`}.`,
    fields,
  );
  // Not the message: some providers quote the prompt in theirs.
  if (work) await insertFailure(deps.db, step, work, failure.code);
  if (retryMs !== null) deps.onRetry(retryMs);
  return "failed";
}

async function giveUp<Found extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Found>,
  { claim, work, failure }: FailedTry<Found> & { readonly work: Found },
  done: WorkDone,
): Promise<JobStatus> {
  // Kept without what the model said where that cannot be redacted.
  const output = failure.output && (await deps.redactor.text(failure.output).catch(() => null));
  await deps.db.transaction(async (tx) => {
    await giveWorkUp(tx, claim, { done, range: of.range?.(work), error: failure.message, output });
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
function fieldsOf<Found extends JobAddress>(
  { step, range }: Pick<Attempts<Found>, "step" | "range">,
  { attempt }: Claim,
  { code }: Failure,
  work: Found | null,
): LogFields {
  return { step, attempt, code, ...(work && { ...placeOf(work), ...range?.(work) }) };
}

function placeOf({ threadId }: JobAddress): Pick<LogFields, "threadId"> {
  return threadId === undefined ? {} : { threadId };
}

function lineOf<Found extends JobAddress>(
  { kind, doing, range }: Pick<Attempts<Found>, "kind" | "doing" | "range">,
  { ref }: Claim,
  work: Found | null,
): string {
  const { startSeq, endSeq } = (work && range?.(work)) ?? {};
  return startSeq === undefined
    ? jobName({ kind, ref })
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
