import { MemoryError } from "../errors.js";
import { databaseWords, errorCodeOf, isConnectionError, isPoolBusy } from "./database-error.js";

/** Whether a database answers, as the calls of one memory have found it. */
export interface DatabaseStatus {
  /** "paused": it did not answer several times in a row, and calls fail at once until it answers a probe. */
  readonly state: "up" | "paused";
  /** Calls in a row that it did not answer. */
  readonly failures: number;
  /** Milliseconds until it is probed again; null while it is up. */
  readonly retryInMs: number | null;
}

/** A time in which a database was left alone. */
export interface Outage {
  readonly durationMs: number;
  /** Calls that failed at once meanwhile. */
  readonly refused: number;
}

/** What a breaker needs to know of its database. */
export interface BreakerSettings {
  /** Asks the database whether it answers. */
  readonly probe: () => Promise<unknown>;
  /** Told when a pause begins. */
  readonly onPause?: ((failures: number, error: unknown) => void) | undefined;
  /** Told when it answers again. */
  readonly onBack?: ((outage: Outage) => void) | undefined;
}

/**
 * Stands before a database so that nobody waits for it in vain again and again: when several calls in a row got no
 * answer, those that follow fail at once, until the database answers a probe.
 */
export interface CircuitBreaker {
  /** `work`, counted. @throws MemoryError `DATABASE_UNAVAILABLE` at once, with `details.retryInMs`, during a pause */
  guard<Result>(work: () => Promise<Result>): Promise<Result>;
  /** `work`, counted, also during a pause: for what nobody waits for within a turn. */
  watch<Result>(work: () => Promise<Result>): Promise<Result>;
  status(): DatabaseStatus;
  /** Ends probing. */
  stop(): void;
}

/** Calls in a row without an answer before the database is left alone. Two may fail by chance, as when idle connections were cut. */
const mostFailures = 3;

/** Time between probes: an outage costs turns two seconds more than it lasts, and a server two connections a second at most. */
export const probeAfterMs = 2_000;

/** A breaker that is closed: the database is thought to answer. */
export function createCircuitBreaker({ probe, onPause, onBack }: BreakerSettings): CircuitBreaker {
  let failures = 0;
  let outage: { readonly since: number; retryAt: number; refused: number } | undefined;
  let last: unknown;
  let timer: NodeJS.Timeout | undefined;

  const retryInMs = () => (outage ? Math.max(0, Math.ceil(outage.retryAt - performance.now())) : null);
  const probeLater = (paused: NonNullable<typeof outage>) => {
    paused.retryAt = performance.now() + probeAfterMs;
    timer = setTimeout(async () => {
      await watch(probe).catch(() => {});
      if (outage === paused) probeLater(paused);
    }, probeAfterMs).unref();
  };
  const failed = (error: unknown) => {
    failures++;
    last = error;
    if (outage || failures < mostFailures) return;
    outage = { since: performance.now(), retryAt: 0, refused: 0 };
    probeLater(outage);
    onPause?.(failures, error);
  };
  const answered = () => {
    failures = 0;
    const over = outage;
    outage = undefined;
    clearTimeout(timer);
    if (over) onBack?.({ durationMs: Math.round(performance.now() - over.since), refused: over.refused });
  };
  const watch: CircuitBreaker["watch"] = async (work) => {
    try {
      const result = await work();
      answered();
      return result;
    } catch (error) {
      if (gotNoAnswer(error)) failed(error);
      else if (gotAnswer(error)) answered();
      throw error;
    }
  };
  return {
    async guard(work) {
      if (!outage) return watch(work);
      outage.refused++;
      throw pausedError(failures, retryInMs() ?? 0, last);
    },
    watch,
    status: () => ({ state: outage ? "paused" : "up", failures, retryInMs: retryInMs() }),
    stop() {
      outage = undefined;
      clearTimeout(timer);
    },
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
      `alone and ${next}. Check that it runs and can be reached.`,
    { cause, details: { retryInMs } },
  );
}
