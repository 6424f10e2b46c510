import { MemoryError, type MemoryErrorCode, UnusableOutput } from "../errors.js";
import { errorLine } from "../logger.js";
import { retryDelayMs } from "../models/model-pause.js";
import { insertEvent } from "../observability/events/event-log.js";
import { redactSecrets } from "../screening/redact-secrets.js";
import { storable } from "../text/storable-text.js";
import { isUnread } from "./forgotten-words.js";
import type { JobRuntime } from "./jobs-options.js";
import type { LoadedWork, WorkDefinition, WorkSteps } from "./work-definition.js";
import { jobName, type ModelWorkKind } from "./work-kinds.rule.js";
import { type Claim, deferWork, failWork, giveWorkUp, LeaseLost } from "./work-table.js";

export interface Failure {
  readonly code: MemoryErrorCode | "LEASE_LOST" | "UNEXPECTED";
  readonly message: string;
  readonly output: string | null;
  /** Not tried again, since each try costs. @default false */
  readonly isFinal?: boolean;
}

const maxOutputCharacters = 100_000;

const maxProviderCharacters = 1_000;

export function toFailure(error: unknown): Failure {
  const message = errorLine(error);
  if (error instanceof LeaseLost) return { code: "LEASE_LOST", message, output: null };
  if (!MemoryError.is(error)) return { code: "UNEXPECTED", message, output: null };
  const { code, cause } = error;
  if (cause instanceof UnusableOutput) {
    const output = storable(cause.output.slice(0, maxOutputCharacters));
    return { code, message, output, isFinal: cause.isRefusal };
  }
  if (code !== "MODEL_FAILED" || !(cause instanceof Error)) return { code, message, output: null };
  // What the provider said, which may quote the prompt, and the key that it refuses.
  const said = redactSecrets(cause.message.slice(0, maxProviderCharacters));
  return { code, message, output: storable(said) || null };
}

/** "failed": retried unless it was the last try; "dead_letter": given up; "lost": taken over. */
export type JobStatus = "completed" | "skipped" | "deferred" | "failed" | "dead_letter" | "lost";

function rangeOf({ startSeq, endSeq, messages = [] }: LoadedWork) {
  const [first, last] = [startSeq ?? messages[0]?.seq, endSeq ?? messages.at(-1)?.seq];
  return first === undefined || last === undefined ? null : { startSeq: first, endSeq: last };
}

/** Whatever it loads and makes. */
type Definition = Pick<WorkDefinition<LoadedWork, never>, "kind" | "policy"> & {
  readonly steps: Pick<WorkSteps<LoadedWork, never>, "fail">;
};

export interface FailedTry {
  readonly claim: Claim;
  /** Null if it could not be loaded: no dead letter, no event. */
  readonly work: LoadedWork | null;
  readonly failure: Failure;
}

/**
 * Records a failed try and an event; the work is retried later or given up. While its model is not
 * called, it waits for that time, and the try does not count.
 */
export async function settleFailure(
  deps: JobRuntime,
  of: Definition,
  failed: FailedTry,
): Promise<JobStatus> {
  const { claim, work, failure } = failed;
  if (failure.code === "LEASE_LOST") return "lost";
  const { maxAttempts, maxFailures } = of.policy.tries;
  const isLast =
    failure.isFinal ||
    claim.attempt >= (failure.code === "MODEL_OUTPUT_INVALID" ? maxAttempts : maxFailures);
  try {
    if (failure.code === "MODEL_FAILED" && work && deps.pause.until()) {
      deps.logger.warn(`${jobName({ ...claim, ...of })} waits: ${failure.message}`);
      await insertEvent(deps.db, failureEvent(of.kind, work, "error", failure.code));
      await of.steps.fail?.(deps.db, claim, work);
      if (await putOff(deps, of, claim, work, await shownError(deps, failure))) return "deferred";
    }
    return await recordFailure(deps, of, failed, isLast);
  } catch (error) {
    if (error instanceof LeaseLost) return "lost";
    throw error;
  }
}

async function shownError({ redactor }: JobRuntime, { message: error, output }: Failure) {
  return { error, output: output && (await redactor.text(output).catch(() => null)) };
}

const unreadWaitMs = 1_000;

/**
 * Defers work while its model is not called, extraction is reading or energy is low; returns
 * whether it did.
 * @throws LeaseLost
 */
export async function putOff(
  { db, logger, usage, clock, onRetry, pause }: JobRuntime,
  of: Definition,
  claim: Claim,
  work: LoadedWork,
  failed?: Parameters<typeof deferWork>[3],
): Promise<boolean> {
  const { endSeq } = rangeOf(work) ?? {};
  if (of.policy.heedsRequests && endSeq !== undefined && (await isUnread(db, claim.ref, endSeq))) {
    await deferWork(db, claim, unreadWaitMs);
    onRetry(unreadWaitMs, { kind: of.kind, ref: claim.ref });
    return true;
  }
  const paused = pause.until();
  const until = paused ?? (of.policy.waits ? await usage.pausedUntil(work.scope) : null);
  if (until === null) return false;
  const pausedMs = paused && paused.getTime() - clock().getTime();
  await deferWork(db, claim, pausedMs ?? until, failed);
  const { name, fields } = failedWork(of, claim, work);
  const what = paused ? "the model" : "energy";
  logger.debug(`${name} waits for ${what} until ${until.toISOString()}`, fields);
  if (pausedMs !== null) onRetry(pausedMs);
  else await insertEvent(db, failureEvent(of.kind, work, "skipped", "LOW_ENERGY"));
  return true;
}

/** Minimum delay after work could not be loaded, since some such tries are not counted. */
const minWaitMs = 1_000;

/** Has the work tried again, or gives it up after its last try; some then stays as it is. */
async function recordFailure(
  deps: JobRuntime,
  of: Definition,
  { claim, work, failure }: FailedTry,
  isLast: boolean,
): Promise<JobStatus> {
  const { db, logger } = deps;
  const { tries, staysFailed = false, meanwhile = "Nothing was written" } = of.policy;
  const { code } = failure;
  const { error, output } = await shownError(deps, failure);
  const { name, fields } = failedWork(of, claim, work);
  if (isLast && work && !staysFailed) {
    const { doneUntil = claim.doneUntil, more } = work;
    await db.transaction(async (tx) => {
      const done = { doneUntil, more };
      await giveWorkUp(tx, claim, { done, range: rangeOf(work), error, output });
      await insertEvent(tx, failureEvent(of.kind, work, "error", "DEAD_LETTER"));
    });
    logger.error(`${name} was given up at try ${claim.attempt}: ${error}`, { ...fields, code });
    return "dead_letter";
  }
  const waitMs = Math.max(work ? 0 : minWaitMs, retryDelayMs(claim.attempt, tries.retryDelayMs));
  const retryMs = isLast && staysFailed ? null : waitMs;
  await db.transaction(async (tx) => {
    await failWork(tx, claim, { error, output, retryMs });
    await of.steps.fail?.(tx, claim, work);
  });
  const next = retryMs === null ? "no further try" : `next try in ${retryMs} ms`;
  logger.warn(`${name} failed: ${error} ${meanwhile}; ${next}.`, { ...fields, code, retryMs });
  // Omits the message: some providers quote the prompt.
  if (work) await insertEvent(db, failureEvent(of.kind, work, "error", code));
  if (retryMs !== null) deps.onRetry(retryMs);
  return "failed";
}

function failedWork({ kind }: Definition, { ref, attempt }: Claim, work: LoadedWork | null) {
  const { threadId } = work ?? {};
  const place = { step: kind, attempt, ...(threadId !== undefined && { threadId }) };
  const messages = work && rangeOf(work);
  if (!messages) return { name: jobName({ kind, ref }), fields: place };
  const { startSeq, endSeq } = messages;
  const name = `Work "${kind}" of messages ${startSeq}-${endSeq} for ${threadId}`;
  return { name, fields: { ...place, startSeq, endSeq } };
}

function failureEvent(
  step: ModelWorkKind,
  { scope, threadId }: LoadedWork,
  status: "error" | "skipped",
  detail: string,
) {
  return { scope, threadId, step, op: "create", status, detail } as const;
}
