import { MemoryError } from "../errors.js";
import {
  databaseWords,
  errorCodeOf,
  isConnectionError,
  isPoolBusy,
  isReadTimeout,
} from "./database-error.js";

/** Whether a database answers the statements of one memory. */
export interface DatabaseStatus {
  /**
   * "paused": after three seconds without an answer calls fail at once, until the database answers
   * a probe.
   */
  readonly state: "up" | "paused";
  /**
   * Milliseconds without an answer, since a statement or connection failed; null after an answer.
   */
  readonly silentMs: number | null;
  /** Milliseconds until the next probe; null while it is up. */
  readonly retryInMs: number | null;
}

export interface Outage {
  readonly durationMs: number;
  readonly refused: number;
}

export interface OutageSettings {
  readonly probe: () => Promise<unknown>;
  readonly onPause?: ((silentMs: number, error: unknown) => void) | undefined;
  readonly onBack?: ((outage: Outage) => void) | undefined;
}

export type OutageWatch = ReturnType<typeof watchForOutages>;

/** A lost connection is retried for as long: a fast restart takes less. */
export const patienceMs = 3_000;

export const probeEveryMs = 2_000;

/** Probes of a silent server hold connections; half of a pool of ten is left to calls. */
const maxOpenProbes = 5;

export function watchForOutages({ probe, onPause, onBack }: OutageSettings) {
  let answeredAt = performance.now();
  let silentSince: number | undefined;
  let outage: { probeAt: number; refused: number } | undefined;
  let last: unknown;
  let probes = 0;
  let timer: NodeJS.Timeout | undefined;

  const silentMs = () =>
    silentSince === undefined ? null : Math.round(performance.now() - silentSince);
  const retryInMs = () =>
    outage ? Math.max(0, Math.ceil(outage.probeAt - performance.now())) : null;
  const probeRepeatedly = (paused: NonNullable<typeof outage>) => {
    paused.probeAt = performance.now() + probeEveryMs;
    timer = setTimeout(() => probeRepeatedly(paused), probeEveryMs).unref();
    if (probes >= maxOpenProbes) return;
    probes++;
    void probe()
      .catch(() => {})
      .finally(() => probes--);
  };
  const answered = () => {
    const over = outage && { durationMs: silentMs() ?? 0, refused: outage.refused };
    answeredAt = performance.now();
    silentSince = undefined;
    stop();
    if (over) onBack?.(over);
  };
  const stop = () => {
    outage = undefined;
    clearTimeout(timer);
  };
  return {
    answered,
    failed(error: unknown, sentAt: number) {
      if (isPoolBusy(error)) return;
      if (!isConnectionError(error))
        return /^[0-9A-Z]{5}$/.test(errorCodeOf(error)) ? answered() : undefined;
      last = error;
      // The statement may have waited for a lock: its own waiting time proves nothing.
      silentSince ??= isReadTimeout(error) ? performance.now() : Math.max(sentAt, answeredAt);
      const ms = silentMs() ?? 0;
      if (outage || ms < patienceMs) return;
      outage = { probeAt: 0, refused: 0 };
      probeRepeatedly(outage);
      onPause?.(ms, error);
    },
    requireUp() {
      if (!outage) return;
      outage.refused++;
      const [silent, retry] = [silentMs() ?? 0, retryInMs() ?? 0];
      throw new MemoryError(
        "DATABASE_UNAVAILABLE",
        `The database has not answered for ${Math.round(silent / 1_000)} s (the last error: ${databaseWords(last)}), so ` +
          `calls fail at once until it does. The next probe is in ${Math.ceil(retry / 1_000)} s. Check that it runs and can be reached.`,
        { cause: last, details: { retryInMs: retry } },
      );
    },
    status(): DatabaseStatus {
      return { state: outage ? "paused" : "up", silentMs: silentMs(), retryInMs: retryInMs() };
    },
    stop,
  };
}
