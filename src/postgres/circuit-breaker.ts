import { MemoryError } from "../errors.js";
import { databaseWords, errorCodeOf, isConnectionError, isPoolBusy } from "./database-error.js";

/** Whether a database answers the calls of one memory. */
export interface DatabaseStatus {
  /** "paused": after several failures in a row calls fail at once, until the database answers a probe. */
  readonly state: "up" | "paused";
  /** Consecutive calls without an answer. */
  readonly failures: number;
  /** Milliseconds until the next probe; null while it is up. */
  readonly retryInMs: number | null;
}

export interface Outage {
  readonly durationMs: number;
  /** Calls that failed at once meanwhile. */
  readonly refused: number;
}

export interface BreakerSettings {
  readonly probe: () => Promise<unknown>;
  readonly onPause?: ((failures: number, error: unknown) => void) | undefined;
  readonly onBack?: ((outage: Outage) => void) | undefined;
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Two may fail by chance, as when idle connections were cut. */
const mostFailures = 3;

/** An outage costs turns two seconds more than it lasts, and the server at most two connections a second. */
export const probeAfterMs = 2_000;

/** After several calls in a row without an answer, later ones fail at once, until the database answers a probe. */
export function createCircuitBreaker({ probe, onPause, onBack }: BreakerSettings) {
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
  const watch = async <Result>(work: () => Promise<Result>): Promise<Result> => {
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
    /** `work`, counted. @throws MemoryError `DATABASE_UNAVAILABLE` at once, with `details.retryInMs`, during a pause */
    async guard<Result>(work: () => Promise<Result>): Promise<Result> {
      if (!outage) return watch(work);
      outage.refused++;
      throw pausedError(failures, retryInMs() ?? 0, last);
    },
    /** `work`, counted, also during a pause: for work outside of turns. */
    watch,
    status: (): DatabaseStatus => ({ state: outage ? "paused" : "up", failures, retryInMs: retryInMs() }),
    stop() {
      outage = undefined;
      clearTimeout(timer);
    },
  };
}

function gotNoAnswer(error: unknown): boolean {
  if (MemoryError.is(error)) {
    if (isPoolBusy(error.cause)) return false;
    return error.code === "DATABASE_UNAVAILABLE" || error.code === "DATABASE_TIMEOUT";
  }
  return isConnectionError(error) || errorCodeOf(error) === "57014";
}

/** Only a database that answers gives an SQLSTATE. */
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
