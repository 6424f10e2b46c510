import { MemoryError } from "../errors.js";
import { databaseWords, errorCodeOf, isConnectionError, isPoolBusy } from "./database-error.js";

/** Whether a database answers, as the calls of one memory have found it. */
export interface DatabaseStatus {
  /** "paused": it did not answer several times in a row, and calls fail at once until one is tried again. */
  readonly state: "up" | "paused";
  /** Calls in a row that it did not answer. */
  readonly failures: number;
  /** Milliseconds until a call is tried again; null while it is up. */
  readonly retryInMs: number | null;
}

/** A time in which a database was left alone. */
export interface Outage {
  readonly durationMs: number;
  /** Calls that failed at once meanwhile. */
  readonly refused: number;
}

/** When a database that does not answer is left alone. */
export interface BreakerSettings {
  /** Calls in a row without an answer before it is left alone; 0 means never. */
  readonly failures: number;
  /** How long it is left alone, in milliseconds, before one call is tried. */
  readonly pauseMs: number;
  /** Told when a pause begins, not when a try within an outage fails as well. */
  readonly onPause?: ((failures: number, error: unknown) => void) | undefined;
  /** Told when it answers again. */
  readonly onBack?: ((outage: Outage) => void) | undefined;
  /** Milliseconds of a clock that only goes forward. @default that of the process */
  readonly nowMs?: (() => number) | undefined;
}

/**
 * Stands before a database so that nobody waits for it in vain again and again: when several calls in a row got no
 * answer, those that follow fail at once. After a pause one call is tried, alone; it decides.
 */
export interface CircuitBreaker {
  /** `work`, counted. @throws MemoryError `DATABASE_UNAVAILABLE` at once, with `details.retryInMs`, during a pause */
  guard<Result>(work: () => Promise<Result>): Promise<Result>;
  /** `work`, counted, also during a pause: for what nobody waits for within a turn. */
  watch<Result>(work: () => Promise<Result>): Promise<Result>;
  /** @throws MemoryError `DATABASE_UNAVAILABLE` as `guard` does, without counting anything. */
  refuse(): void;
  status(): DatabaseStatus;
}

/** A breaker that is closed: the database is thought to answer. */
export function createCircuitBreaker(settings: BreakerSettings): CircuitBreaker {
  const { pauseMs, onPause, onBack, nowMs = () => performance.now() } = settings;
  const most = settings.failures === 0 ? Number.POSITIVE_INFINITY : settings.failures;
  let failures = 0;
  let outage: { readonly since: number; retryAt: number; trying: boolean; refused: number } | undefined;
  let last: unknown;

  const retryInMs = () => (outage ? Math.max(0, Math.ceil(outage.retryAt - nowMs())) : null);
  const refuse = () => {
    if (!outage || (retryInMs() === 0 && !outage.trying)) return;
    outage.refused++;
    throw pausedError(failures, retryInMs() ?? 0, last);
  };
  const failed = (error: unknown, tried: boolean) => {
    failures++;
    last = error;
    if (outage) {
      if (tried) outage.retryAt = nowMs() + pauseMs;
      return;
    }
    if (failures < most) return;
    outage = { since: nowMs(), retryAt: nowMs() + pauseMs, trying: false, refused: 0 };
    onPause?.(failures, error);
  };
  const answered = () => {
    failures = 0;
    const over = outage;
    outage = undefined;
    if (over) onBack?.({ durationMs: Math.round(nowMs() - over.since), refused: over.refused });
  };
  const count = async <Result>(work: () => Promise<Result>, tried: boolean): Promise<Result> => {
    try {
      const result = await work();
      answered();
      return result;
    } catch (error) {
      if (gotNoAnswer(error)) failed(error, tried);
      else if (gotAnswer(error)) answered();
      throw error;
    }
  };
  return {
    async guard(work) {
      refuse();
      const trying = outage;
      if (trying) trying.trying = true;
      try {
        return await count(work, trying !== undefined);
      } finally {
        if (trying) trying.trying = false;
      }
    },
    watch: (work) => count(work, false),
    refuse,
    status: () => ({ state: outage ? "paused" : "up", failures, retryInMs: retryInMs() }),
  };
}

/** Whether `error` says that the database could not be reached, or took too long. */
function gotNoAnswer(error: unknown): boolean {
  if (MemoryError.is(error)) {
    if (isPoolBusy(error.cause)) return false;
    return error.code === "DATABASE_UNAVAILABLE" || error.code === "DATABASE_TIMEOUT";
  }
  return isConnectionError(error) || errorCodeOf(error) === "57014";
}

/** Whether `error` is one that only a database that answers can give. */
function gotAnswer(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(errorCodeOf(MemoryError.is(error) ? error.cause : error));
}

function pausedError(failures: number, retryInMs: number, last: unknown): MemoryError {
  const cause = MemoryError.is(last) ? (last.cause ?? last) : last;
  const next = retryInMs > 0 ? `tried again in ${Math.ceil(retryInMs / 1_000)} s` : "being tried again now";
  return new MemoryError(
    "DATABASE_UNAVAILABLE",
    `The database did not answer ${failures} times in a row (the last time: ${databaseWords(cause)}), so it is left ` +
      `alone and ${next}. Check that it runs and can be reached. ` +
      "database.breakerFailures and database.breakerPauseMs of the config say when.",
    { cause, details: { retryInMs } },
  );
}
