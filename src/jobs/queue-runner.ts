import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import { acrossTenants } from "../postgres/isolation.js";
import { abortSignal, parseInput } from "../text/parse-input.js";
import type { Work } from "./define-work.js";
import { createJobQueue, type JobQueue, type QueueOption } from "./job-queue.js";
import {
  createLookout,
  createSweeper,
  guarded,
  ofKinds,
  type Runner,
  type RunnerDeps,
} from "./runner.js";
import {
  type Job,
  jobName,
  kindsField,
  toJob,
  type WorkKind,
  workKinds,
} from "./work-kinds.rule.js";

export interface WorkInput {
  /** @default all that the memory does */
  readonly kinds?: readonly WorkKind[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Counts {
  done: number;
  failed: number;
  running: number;
}

interface WorkerStatus extends Readonly<Counts> {
  /** Whether it takes jobs and the last request to the queues succeeded. */
  readonly ready: boolean;
  readonly kinds: Readonly<Partial<Record<WorkKind, Readonly<Counts>>>>;
}

export interface JobWorker {
  status(): WorkerStatus;
  /** Takes no more jobs, returns unstarted ones to the queue, and waits for running ones. */
  stop(): Promise<void>;
}

export interface QueueRunner extends Runner {
  work(input?: WorkInput): Promise<JobWorker>;
}

const workSchema = z.strictObject({ kinds: kindsField, signal: abortSignal.optional() });

export const parseWork = (input: WorkInput | undefined) =>
  parseInput(workSchema, input ?? {}, "work");

interface QueueRunnerDeps extends RunnerDeps {
  readonly option: QueueOption;
  readonly own: readonly Work[];
  readonly pollIntervalMs: number;
}

const queued = { limit: 2_000 };

export function createQueueRunner(deps: QueueRunnerDeps): QueueRunner {
  const { db, works, logger } = deps;
  const queue = createJobQueue(db, deps.option, logger);
  const lookFor = createLookout(db);
  let worker: ReturnType<typeof createWorker> | undefined;
  let stopped = false;
  return {
    async start(job, others = []) {
      for (const each of [job, ...others])
        if (works.some(({ kind }) => kind === each.kind)) queue.add(each);
    },
    async upkeep(which) {
      return lookFor(ofKinds(works, which), { ...queued, inTime: false }, (job, _, turn) =>
        queue.add(job, turn),
      );
    },
    wakeIn: (delayMs) => worker?.wakeIn(delayMs),
    startSweeping() {},
    idle: queue.flush,
    async work(input) {
      const { kinds = workKinds, signal } = parseWork(input);
      if (stopped) throw new MemoryError("CLOSED", "This memory is closed.");
      if (worker)
        throw new MemoryError(
          "INVALID_INPUT",
          "This memory works already: stop that worker first.",
        );
      const mine = createWorker({ ...deps, works: ofKinds(deps.own, { kinds }) }, queue);
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
      await queue.close();
    },
  };
}

/** Runs jobs of `works`, and counts them. */
function createCountedRuns({ works, within, logger }: QueueRunnerDeps) {
  const none: Counts = { done: 0, failed: 0, running: 0 };
  const counts = new Map(works.map(({ kind }) => [kind, { ...none }]));
  return {
    async run(work: Work, job: Job) {
      const count = counts.get(work.kind) as Counts;
      count.running++;
      const isDone = await guarded(
        jobName(job),
        () => acrossTenants(() => work.run(job, within)),
        logger,
      );
      count.running--;
      count[isDone ? "done" : "failed"]++;
    },
    status(ready: boolean): WorkerStatus {
      const sum = (count: keyof Counts) =>
        [...counts.values()].reduce((total, each) => total + each[count], 0);
      const kinds = Object.fromEntries([...counts].map(([kind, each]) => [kind, { ...each }]));
      return { ready, done: sum("done"), failed: sum("failed"), running: sum("running"), kinds };
    },
  };
}

/** Jobs fetched per running job, to save round trips. */
const takenPerRunning = 4;

/** Takes jobs from queues and queues due work; without queues it runs due work itself. */
function createWorker(deps: QueueRunnerDeps, queue: JobQueue) {
  const { db, logger, works, concurrency } = deps;
  const outside = new AsyncResource("mnemograph.worker");
  const lookFor = createLookout(db);
  const runs = createCountedRuns(deps);
  const places = new Map(works.map(({ kind }) => [kind, new PQueue({ concurrency })]));
  let sweeping: Promise<void> | undefined;
  let isWell = true;
  let stopped = false;

  // After `stop`, unstarted jobs return to the queue.
  const place = (work: Work, job: Job) =>
    places.get(work.kind)?.add(async () => (stopped ? queue.add(job) : await runs.run(work, job)));

  const take = async (work: Work, data: readonly unknown[]) => {
    const jobs = data.flatMap((each) => toJob(each) ?? []);
    if (jobs.length < data.length)
      logger.warn(`Jobs of ${work.kind} that another version queued in another form are ignored.`);
    await Promise.all(jobs.map((job) => place(work, job)));
  };
  const prepared = async () => {
    try {
      await queue.prepare();
      return true;
    } catch (error) {
      if (MemoryError.is(error)) throw error;
      logger.warn(`The queues are gone, so this process works without them: ${errorLine(error)}`);
      return false;
    }
  };
  const look = async () => {
    isWell = await prepared();
    await lookFor(works, { ...queued, inTime: true }, (job, work, turn) => {
      if (isWell) queue.add(job, turn);
      else void place(work, job);
    });
    await queue.flush();
  };
  const sweep = () => {
    sweeping ??= guarded("Looking for due work", look, logger).then((well) => {
      isWell &&= well;
      sweeping = undefined;
    });
  };
  const sweeper = createSweeper(sweep, deps.sweepIntervalMs);
  return {
    wakeIn: sweeper.wakeIn,
    async begin() {
      isWell = await prepared();
      outside.runInAsyncScope(() => {
        for (const work of works) {
          const taking = {
            most: concurrency * takenPerRunning,
            pollIntervalMs: deps.pollIntervalMs,
          };
          queue.work(work.kind, { ...taking, take: (data) => take(work, data) });
        }
        sweeper.start();
      });
    },
    status: () => runs.status(isWell && !stopped),
    async stop() {
      stopped = true;
      sweeper.stop();
      await sweeping;
      await queue.stopWork();
      await Promise.all([...places.values()].map((each) => each.onIdle()));
      await queue.flush();
    },
  };
}
