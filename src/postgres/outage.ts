import { setTimeout as wait } from "node:timers/promises";
import { inTime } from "../deadline.js";
import { MemoryError } from "../errors.js";
import {
  databaseWords,
  errorCodeOf,
  isConnectionError,
  isPoolBusy,
  isReadTimeout,
  readTimeout,
} from "./database-error.js";

/** Whether a database answers the statements of one memory. */
export interface DatabaseStatus {
  /**
   * "paused": after three seconds without an answer each call first probes the database, and fails
   * at once if it does not answer.
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

/** On a pool without deadlines a probe may never end, such as one of a host that is gone. */
const probeEndsMs = 30_000;

/** A call's own probe: a database that is back answers it, and one that is down refuses it. */
const callWaitsMs = 1_000;

function createProbes(probe: () => Promise<unknown>) {
  let open = 0;
  let latest: { readonly sentAt: number; readonly over: Promise<void> } | undefined;
  const ask = async () => {
    open++;
    await inTime(probeEndsMs, probe(), readTimeout).catch(() => {});
    open--;
  };
  const send = () => {
    if (open >= maxOpenProbes) return;
    const sent = { sentAt: performance.now(), over: ask() };
    latest = sent;
    void sent.over.then(() => {
      if (latest === sent) latest = undefined;
    });
  };
  return {
    send,
    /** For a call: those at the same time share a probe. */
    async answer(): Promise<void> {
      if (!latest || performance.now() - latest.sentAt > callWaitsMs) send();
      const leftMs = latest ? latest.sentAt + callWaitsMs - performance.now() : 0;
      if (latest && leftMs > 0)
        await Promise.race([latest.over, wait(leftMs, undefined, { ref: false })]);
    },
  };
}

export function watchForOutages({ probe, onPause, onBack }: OutageSettings) {
  let answeredAt = performance.now();
  let silentSince: number | undefined;
  let outage: { probeAt: number; refused: number } | undefined;
  let last: unknown;
  const probes = createProbes(probe);
  let timer: NodeJS.Timeout | undefined;

  const silentMs = () =>
    silentSince === undefined ? null : Math.round(performance.now() - silentSince);
  const retryInMs = () =>
    outage ? Math.max(0, Math.ceil(outage.probeAt - performance.now())) : null;
  const probeRepeatedly = (paused: NonNullable<typeof outage>) => {
    paused.probeAt = performance.now() + probeEveryMs;
    timer = setTimeout(() => probeRepeatedly(paused), probeEveryMs).unref();
    probes.send();
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
    /** @throws MemoryError `DATABASE_UNAVAILABLE` */
    async requireUp(): Promise<void> {
      if (!outage) return;
      await probes.answer();
      if (!outage) return;
      outage.refused++;
      const [silent, retry] = [silentMs() ?? 0, retryInMs() ?? 0];
      throw new MemoryError(
        "DATABASE_UNAVAILABLE",
        `The database has not answered for ${Math.round(silent / 1_000)} s (the last error: ${databaseWords(last)}), so ` +
          `calls fail until it does. Each call asks it, and so does this process in ${Math.ceil(retry / 1_000)} s. ` +
          "Check that it runs and can be reached.",
        { cause: last, details: { retryInMs: retry } },
      );
    },
    status(): DatabaseStatus {
      return { state: outage ? "paused" : "up", silentMs: silentMs(), retryInMs: retryInMs() };
    },
    stop,
  };
}
