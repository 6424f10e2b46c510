import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { z } from "zod";
import { longestTimerMs } from "../clock.js";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import { acrossTenants } from "../postgres/isolation.js";
import { abortSignal, parseInput } from "../text/parse-input.js";
import type { Work } from "./define-work.js";
import { createJobQueue, type JobQueue, type QueueOption } from "./job-queue.js";
import { createAlarms, createLookout, guarded, ofKinds, type Runner, type RunnerDeps } from "./runner.js";
import { type Job, jobName, kindsField, toJob, type WorkKind, workKinds } from "./work-kinds.rule.js";

/** Which queued jobs a process does. */
export interface WorkInput {
  /** Only these kinds. @default all that the memory does */
  readonly kinds?: readonly WorkKind[] | undefined;
  /** Stops the worker, as `stop` does. */
  readonly signal?: AbortSignal | undefined;
}

/** Jobs that ended since a worker was started, those of them that threw, and those that run. */
interface Counts {
  done: number;
  failed: number;
  running: number;
}

/** What a worker has done and does. */
interface WorkerStatus extends Readonly<Counts> {
  /** Whether it takes jobs and the queues answered when they were last asked. */
  readonly ready: boolean;
  /** The same by kind. */
  readonly kinds: Readonly<Partial<Record<WorkKind, Readonly<Counts>>>>;
}

/** A process's work on queued jobs. */
export interface JobWorker {
  /** What it has done and does; it asks nothing. */
  status(): WorkerStatus;
  /** Takes no more jobs, gives back what has not begun, and resolves when what runs has ended. */
  stop(): Promise<void>;
}

/** A runner that puts jobs in queues, and does some where it is asked to. */
export interface QueueRunner extends Runner {
  /** @throws MemoryError `INVALID_INPUT`, `PERMISSION_DENIED`, `CLOSED` */
  work(input?: WorkInput): Promise<JobWorker>;
}

const workSchema = z.strictObject({ kinds: kindsField, signal: abortSignal.optional() });

/** @throws MemoryError `INVALID_INPUT` */
export function parseWork(input: WorkInput | undefined) {
  return parseInput(workSchema, input ?? {}, "work");
}

/** What a runner by queues works with. */
interface QueueRunnerDeps extends RunnerDeps {
  readonly option: QueueOption;
  /** Those of the works that this process can do: without a model only some. */
  readonly own: readonly Work[];
  readonly pollIntervalMs: number;
}

/** Most jobs of each kind that one look puts in the queues. */
const queuedAtOnce = 2_000;

/** Background work by queues: whoever starts it puts it in one, and processes that work take it from there. */
export function createQueueRunner(deps: QueueRunnerDeps): QueueRunner {
  const { db, works, logger } = deps;
  const queue = createJobQueue(db, deps.option, logger);
  const lookout = createLookout(db);
  let worker: ReturnType<typeof createWorker> | undefined;
  let stopped = false;
  return {
    async start(job) {
      if (works.some(({ kind }) => kind === job.kind)) queue.add(job);
    },
    async upkeep(which) {
      let found = 0;
      for (const work of ofKinds(works, which)) {
        const jobs = await lookout.jobsOf(work, { limit: queuedAtOnce, inTime: false });
        if (work.counted) found += jobs.length;
        jobs.forEach(queue.add);
      }
      return found;
    },
    // Who only puts jobs in queues looks for none: workers do.
    wakeIn: (delayMs) => worker?.wakeIn(delayMs),
    startSweeping() {},
    idle: queue.flush,
    async work(input) {
      const { kinds = workKinds, signal } = parseWork(input);
      if (stopped) throw new MemoryError("CLOSED", "This memory is closed.");
      if (worker) {
        throw new MemoryError("INVALID_INPUT", "This memory works already: stop that worker first.");
      }
      const mine = createWorker({ ...deps, works: ofKinds(deps.own, { kinds }) }, queue);
      worker = mine;
      const stop = async () => {
        await mine.stop();
        if (worker === mine) worker = undefined;
      };
      try {
        if (!(await db.mayCrossTenants())) throw needsOwner();
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

function needsOwner(): MemoryError {
  return new MemoryError(
    "PERMISSION_DENIED",
    "Workers do the work of all tenants, which only the role may that owns the tables: connect as that role.",
  );
}

/** Jobs taken from a queue for each that runs: those that wait here need no round trip when their turn comes. */
const takenPerRunning = 4;

/** Takes jobs from queues, and puts into them what the tables say is due; where they are gone, it does that itself. */
function createWorker(deps: QueueRunnerDeps, queue: JobQueue) {
  const { db, logger, works, within, concurrency } = deps;
  const outside = new AsyncResource("mnemograph.worker");
  const lookout = createLookout(db);
  const counts = new Map(
    works.map(({ kind }): [WorkKind, Counts] => [kind, { done: 0, failed: 0, running: 0 }]),
  );
  const places = new Map(works.map(({ kind }) => [kind, new PQueue({ concurrency })]));
  let interval: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  let isWell = true;
  let stopped = false;

  const run = async (work: Work, job: Job) => {
    const count = counts.get(work.kind) as Counts;
    count.running++;
    const well = await guarded(jobName(job), () => acrossTenants(() => work.run(job, within)), logger);
    count.running--;
    count[well ? "done" : "failed"]++;
  };
  /** In this process, when its turn comes. What has not begun when the worker stops goes back into the queue. */
  const place = (work: Work, job: Job) =>
    places.get(work.kind)?.add(async () => (stopped ? queue.add(job) : await run(work, job)));

  const take = async (work: Work, data: readonly unknown[]) => {
    const jobs = data.flatMap((each) => toJob(each) ?? []);
    if (jobs.length < data.length)
      logger.warn(`This version does not know jobs of ${work.kind}: they are left out.`);
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
    for (const work of works) {
      if (stopped) return;
      const jobs = await lookout.jobsOf(work, { limit: queuedAtOnce, inTime: true });
      for (const job of jobs) isWell ? queue.add(job) : void place(work, job);
    }
    await queue.flush();
  };
  const sweep = () => {
    sweeping ??= guarded("Looking for due work", look, logger).then((well) => {
      isWell &&= well;
      sweeping = undefined;
    });
  };
  const alarms = createAlarms(sweep);
  return {
    wakeIn: alarms.in,
    async begin() {
      isWell = await prepared();
      outside.runInAsyncScope(() => {
        for (const work of works) {
          const taking = { most: concurrency * takenPerRunning, pollIntervalMs: deps.pollIntervalMs };
          queue.work(work.kind, { ...taking, take: (data) => take(work, data) });
        }
        interval = setInterval(sweep, Math.min(deps.sweepIntervalMs, longestTimerMs));
        sweep();
      });
    },
    status(): WorkerStatus {
      const sum = (count: keyof Counts) =>
        [...counts.values()].reduce((total, each) => total + each[count], 0);
      return {
        ready: isWell && !stopped,
        ...{ done: sum("done"), failed: sum("failed"), running: sum("running") },
        kinds: Object.fromEntries([...counts].map(([kind, each]) => [kind, { ...each }])),
      };
    },
    async stop() {
      stopped = true;
      clearInterval(interval);
      alarms.stop();
      await sweeping;
      await queue.stopWork();
      await Promise.all([...places.values()].map((each) => each.onIdle()));
      await queue.flush();
    },
  };
}
