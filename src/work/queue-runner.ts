import { z } from "zod";
import { MemoryError } from "../errors.js";
import { abortSignal, parseInput } from "../input/parse-input.js";
import { errorLine } from "../logger.js";
import type { Work } from "./define-work.js";
import { createLook } from "./find-due-work.js";
import { type Counts, createRunner, ofKinds, type Runner, type RunnerDeps } from "./runner.js";
import { createWakeUps, type QueueOption, type WakeUps } from "./wake-ups.js";
import { kindsField, type WorkKind, workKinds } from "./work-kinds.rule.js";

interface WorkerStatus extends Readonly<Counts> {
  /** Whether it takes jobs and the last request to the queues succeeded. */
  readonly ready: boolean;
  readonly kinds: Readonly<Partial<Record<WorkKind, Readonly<Counts>>>>;
}

export interface JobWorker {
  status(): WorkerStatus;
  /** Begins no more jobs and waits for running ones. */
  stop(): Promise<void>;
}

export interface QueueRunner extends Runner {
  work(input?: WorkInput): Promise<JobWorker>;
}

const workSchema = z.strictObject({
  /** @default all that the memory does */
  kinds: kindsField,
  signal: abortSignal.optional(),
});

export interface WorkInput extends z.input<typeof workSchema> {}

export const parseWork = (input: WorkInput | undefined) =>
  parseInput(workSchema, input ?? {}, "work");

interface QueueRunnerDeps extends RunnerDeps {
  readonly option: QueueOption;
  readonly own: readonly Work[];
  readonly pollIntervalMs: number;
}

/** Pieces of a kind that a call of `upkeep` counts at most. */
const maxCounted = 2_000;

/** Puts wake-ups in queues; once `work` is called, does what is due. */
export function createQueueRunner(deps: QueueRunnerDeps): QueueRunner {
  const { db, works, logger } = deps;
  const wakeUps = createWakeUps(db, deps.option, logger);
  const look = createLook(db, maxCounted);
  let worker: ReturnType<typeof createWorker> | undefined;
  let stopped = false;
  return {
    async start(job, others = []) {
      for (const { kind } of [job, ...others])
        if (works.some((work) => work.kind === kind)) wakeUps.send(kind);
    },
    async upkeep(which) {
      let found = 0;
      for (const work of ofKinds(works, which)) {
        const { length } = await look(work, "upkeep");
        if (length > 0) wakeUps.send(work.kind);
        if (!work.uncounted) found += length;
      }
      return found;
    },
    wakeIn: (delayMs) => worker?.wakeIn(delayMs),
    startSweeping() {},
    idle: wakeUps.flush,
    async work(input) {
      const { kinds = workKinds, signal } = parseWork(input);
      if (stopped) throw new MemoryError("CLOSED", "This memory is closed.");
      if (worker)
        throw new MemoryError(
          "INVALID_INPUT",
          "This memory works already: stop that worker first.",
        );
      const mine = createWorker({ ...deps, works: ofKinds(deps.own, { kinds }) }, wakeUps);
      worker = mine;
      const stop = async () => {
        await mine.stop();
        if (worker === mine) worker = undefined;
      };
      try {
        if (!(await db.mayCrossTenants())) {
          const why = "which only the role may that owns the tables: connect as that role.";
          throw new MemoryError("PERMISSION_DENIED", `Workers do the work of all tenants, ${why}`);
        }
        await mine.begin();
      } catch (error) {
        worker = undefined;
        throw error;
      }
      if (signal?.aborted) await stop();
      else signal?.addEventListener("abort", () => void stop(), { once: true });
      return { status: mine.status, stop };
    },
    async stop() {
      stopped = true;
      await worker?.stop();
      await wakeUps.close();
    },
  };
}

/** Messages of other processes wake its runner, and it wakes others if it finds more than it can do. */
function createWorker(deps: QueueRunnerDeps, wakeUps: WakeUps) {
  const { works, logger, concurrency, pollIntervalMs } = deps;
  const runner = createRunner(deps, "worker");
  const stopping = new AbortController();
  const { signal } = stopping;
  const polls: Promise<void>[] = [];
  return {
    wakeIn: runner.wakeIn,
    async begin() {
      await wakeUps.prepare().catch((error: unknown) => {
        if (MemoryError.is(error)) throw error;
        logger.warn(`The queues are gone, so work is found at intervals: ${errorLine(error)}`);
      });
      for (const work of works) {
        const onWake = async () => {
          if ((await runner.wake(work)) > concurrency) wakeUps.send(work.kind);
        };
        const isFree = () => runner.isFree(work);
        polls.push(wakeUps.listen(work.kind, { pollIntervalMs, isFree, onWake, signal }));
      }
      runner.startSweeping();
    },
    status(): WorkerStatus {
      const total = { done: 0, failed: 0, running: 0 };
      for (const { done, failed, running } of runner.counts.values()) {
        total.done += done;
        total.failed += failed;
        total.running += running;
      }
      const kinds = structuredClone(Object.fromEntries(runner.counts));
      return { ready: wakeUps.isWell() && !signal.aborted, ...total, kinds };
    },
    async stop() {
      stopping.abort();
      await Promise.all(polls);
      await runner.stop();
      await wakeUps.flush();
    },
  };
}
