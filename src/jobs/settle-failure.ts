import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { type EventStep, insertEvent } from "../events/event-log.js";
import { errorLine } from "../logger.js";
import { UnusableOutput } from "../models/model-answer.js";
import { retryDelayMs } from "../models/model-pause.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope, ThreadAddress } from "../scope/scope.js";
import { storable } from "../text/storable-text.js";
import type { JobRuntime, Tries } from "./jobs-options.js";
import { isUnread } from "./omissions.js";
import { jobName, type ModelWorkKind } from "./work-kinds.rule.js";
import {
  type Claim,
  deferWork,
  failWork,
  giveWorkUp,
  LeaseLost,
  type WorkDone,
} from "./work-table.js";

export interface Failure {
  readonly code: MemoryErrorCode | "LEASE_LOST" | "UNEXPECTED";
  readonly message: string;
  readonly output: string | null;
  /** Not tried again, since each try costs. @default false */
  readonly isFinal?: boolean;
}

const mostOutputCharacters = 100_000;

export function toFailure(error: unknown): Failure {
  const { cause } = Object(error) as { readonly cause?: unknown };
  const unusable = cause instanceof UnusableOutput ? cause : null;
  return {
    code: MemoryError.is(error)
      ? error.code
      : error instanceof LeaseLost
        ? "LEASE_LOST"
        : "UNEXPECTED",
    message: errorLine(error),
    output: unusable && storable(unusable.output.slice(0, mostOutputCharacters)),
    isFinal: unusable?.isRefusal === true,
  };
}

/** "failed": retried unless it was the last try; "dead_letter": given up; "lost": taken over. */
export type JobStatus = "completed" | "skipped" | "deferred" | "failed" | "dead_letter" | "lost";

export interface SeqRange {
  readonly startSeq: number;
  readonly endSeq: number;
}

export interface JobAddress {
  readonly scope: Scope;
  readonly threadId?: string;
}

export interface Attempts<Found extends JobAddress> {
  readonly kind: ModelWorkKind;
  readonly tries: Tries;
  range?(work: Found): SeqRange;
  /** What holds until the next try, for log lines. @default "Nothing was written" */
  readonly meanwhile?: string;
  rowOf?(work: Found): string;
  onFailed?(tx: Connection, claim: Claim): Promise<void>;
  /** Where work continues after a dead letter. @default it stays failed */
  after?(work: Found): WorkDone;
  /** Whether it waits while its tenant's energy is low, without using a try. @default false */
  readonly waits?: boolean;
  /** Whether it waits for extraction, which may find requests to forget. @default false */
  readonly heedsRequests?: boolean;
}

export interface ThreadWork extends ThreadAddress, WorkDone {
  readonly messages: readonly { readonly seq: number }[];
}

export const threadWork = {
  of: "thread",
  range({ messages }: ThreadWork): SeqRange {
    const startSeq = messages[0]?.seq ?? 0;
    return { startSeq, endSeq: messages.at(-1)?.seq ?? startSeq };
  },
  after: ({ doneUntil, more = false }: ThreadWork): WorkDone => ({ doneUntil, more }),
} as const;

export interface OwnerWork {
  readonly scope: Scope;
  readonly doneUntil: number;
}

export const ownerWork = {
  of: "owner",
  waits: true,
  after: ({ doneUntil }: OwnerWork): WorkDone => ({ doneUntil }),
} as const;

export interface FailedTry<Found> {
  readonly claim: Claim;
  /** Null if it could not be loaded: no dead letter, no event. */
  readonly work: Found | null;
  readonly failure: Failure;
}

/**
 * Records a failed try and an event; the work is retried later or given up. While its model is not
 * called, it waits for that time, and the try does not count.
 */
export async function settleFailure<Found extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Found>,
  failed: FailedTry<Found>,
): Promise<JobStatus> {
  const { claim, work, failure } = failed;
  if (failure.code === "LEASE_LOST") return "lost";
  const { maxAttempts, maxFailures } = of.tries;
  const isLast =
    failure.isFinal ||
    claim.attempt >= (failure.code === "MODEL_OUTPUT_INVALID" ? maxAttempts : maxFailures);
  try {
    if (failure.code === "MODEL_FAILED" && work && deps.pause.until()) {
      deps.logger.warn(`${jobName({ ...claim, ...of })} waits: ${failure.message}`);
      await insertEvent(deps.db, eventOf(of.kind, work, "error", failure.code));
      await of.onFailed?.(deps.db, claim);
      if (await putOff(deps, of, claim, work)) return "deferred";
    }
    if (isLast && work && of.after)
      return await giveUp(deps, of, { claim, work, failure }, of.after(work));
    return await tryAgain(deps, of, failed, isLast && !of.after);
  } catch (error) {
    if (error instanceof LeaseLost) return "lost";
    throw error;
  }
}

const unreadWaitMs = 1_000;

/**
 * Defers work while its model is not called, extraction is reading or energy is low; returns
 * whether it did.
 * @throws LeaseLost
 */
export async function putOff<Found extends JobAddress>(
  { db, logger, usage, clock, onRetry, pause }: JobRuntime,
  of: Attempts<Found>,
  claim: Claim,
  work: Found,
): Promise<boolean> {
  const { endSeq } = of.range?.(work) ?? {};
  if (of.heedsRequests && endSeq !== undefined && (await isUnread(db, claim.ref, endSeq))) {
    await deferWork(db, claim, new Date(clock().getTime() + unreadWaitMs));
    onRetry(unreadWaitMs, { kind: of.kind, ref: claim.ref });
    return true;
  }
  const paused = pause.until();
  const until = paused ?? (of.waits ? await usage.pausedUntil(work.scope) : null);
  if (until === null) return false;
  await deferWork(db, claim, until);
  const { name, fields } = described(of, claim, work);
  const what = paused ? "the model" : "energy";
  logger.debug(`${name} waits for ${what} until ${until.toISOString()}`, fields);
  if (paused) onRetry(paused.getTime() - clock().getTime());
  else await insertEvent(db, eventOf(of.kind, work, "skipped", "LOW_ENERGY"));
  return true;
}

/** Minimum delay after work could not be loaded, since some such tries are not counted. */
const shortestWaitMs = 1_000;

async function tryAgain<Found extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Found>,
  { claim, work, failure }: FailedTry<Found>,
  isLast: boolean,
): Promise<JobStatus> {
  const { tries, meanwhile = "Nothing was written" } = of;
  const waitMs = Math.max(
    work ? 0 : shortestWaitMs,
    retryDelayMs(claim.attempt, tries.retryDelayMs),
  );
  const retryMs = isLast ? null : waitMs;
  await deps.db.transaction(async (tx) => {
    await failWork(tx, claim, { error: failure.message, retryMs });
    await of.onFailed?.(tx, claim);
  });
  const { name, fields: about } = described(of, claim, work);
  const fields = { ...about, code: failure.code, retryMs };
  if (work && of.rowOf) deps.logger.debug(`${of.rowOf(work)} status updated to failed`, fields);
  const next = retryMs === null ? "no further try" : `next try in ${retryMs} ms`;
  deps.logger.warn(`${name} failed: ${failure.message} ${meanwhile}; ${next}.`, fields);
  // Omits the message: some providers quote the prompt.
  if (work) await insertEvent(deps.db, eventOf(of.kind, work, "error", failure.code));
  if (retryMs !== null) deps.onRetry(retryMs);
  return "failed";
}

async function giveUp<Found extends JobAddress>(
  deps: JobRuntime,
  of: Attempts<Found>,
  { claim, work, failure }: FailedTry<Found> & { readonly work: Found },
  done: WorkDone,
): Promise<JobStatus> {
  const output = failure.output && (await deps.redactor.text(failure.output).catch(() => null));
  await deps.db.transaction(async (tx) => {
    await giveWorkUp(tx, claim, { done, range: of.range?.(work), error: failure.message, output });
    await insertEvent(tx, eventOf(of.kind, work, "error", "DEAD_LETTER"));
  });
  const { name, fields } = described(of, claim, work);
  const line = `${name} was given up at try ${claim.attempt}: ${failure.message}`;
  deps.logger.error(line, { ...fields, code: failure.code });
  return "dead_letter";
}

function described<Found extends JobAddress>(
  { kind, range }: Attempts<Found>,
  { ref, attempt }: Claim,
  work: Found | null,
) {
  const { threadId } = work ?? {};
  const place = { step: kind, attempt, ...(threadId !== undefined && { threadId }) };
  const messages = work && range?.(work);
  if (!messages) return { name: jobName({ kind, ref }), fields: place };
  const { startSeq, endSeq } = messages;
  const name = `Work "${kind}" of messages ${startSeq}-${endSeq} for ${threadId}`;
  return { name, fields: { ...place, startSeq, endSeq } };
}

function eventOf(
  step: EventStep,
  { scope, threadId }: JobAddress,
  status: "error" | "skipped",
  detail: string,
) {
  return { scope, threadId, step, op: "create", status, detail } as const;
}
