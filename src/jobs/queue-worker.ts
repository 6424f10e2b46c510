import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { longestTimerMs } from "../clock.js";
import { errorLine, type Logger } from "../logger.js";
import { guarded, type Job, type Worker } from "./background-work.js";
import { type JobKind, type JobTicket, kindOfWork, toTicket, type WorkName } from "./job-kinds.rule.js";
import type { JobQueue, QueuedJob } from "./job-queue.js";
import { queuedAtOnce, type WorkerStatus } from "./worker-status.js";

/** What a process needs to work on queued jobs. */
export interface QueueWorkerDeps {
  readonly queue: JobQueue;
  readonly workers: readonly Worker[];
  readonly logger: Logger;
  /** Jobs of a kind at the same time. */
  readonly concurrencyOf: (kind: JobKind) => number;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
}

/** Jobs taken from a queue for each that runs: those that wait here need no round trip when their turn comes. */
export const takenPerRunning = 4;

/** Shortest time between two looks for due work, in ms. */
const shortestSweepMs = 1_000;

/** Counts of one kind. */
interface Counts {
  done: number;
  failed: number;
  running: number;
}

/**
 * Takes jobs of `kinds` from their queues, and puts into them what the tables say is due. A job that two workers get is done
 * by the one that gets its lease.
 */
export function createQueueWorker(deps: QueueWorkerDeps & { readonly kinds: readonly JobKind[] }) {
  const outside = new AsyncResource("mnemograph.worker");
  const byWork = new Map<WorkName, Worker>();
  for (const worker of deps.workers) for (const work of worker.works ?? []) byWork.set(work, worker);
  const kinds = deps.kinds.filter((kind) => [...byWork.keys()].some((work) => kindOfWork[work] === kind));
  const counts = new Map<JobKind, Counts>(kinds.map((kind) => [kind, { done: 0, failed: 0, running: 0 }]));
  const jobOf = (ticket: JobTicket | null): Job | undefined =>
    ticket ? byWork.get(ticket.work)?.at?.(ticket) : undefined;
  const bell = createBell();
  const lines = new Map(kinds.map((kind) => [kind, createLine(deps, kind, { bell, jobOf, counts })]));
  const sweeper = createSweeper(deps, lines);
  let loops: Promise<unknown>[] = [];
  deps.queue.onAdded((kind) => bell.ring(kind));

  return {
    begin() {
      outside.runInAsyncScope(() => {
        loops = [...lines.values()].map((line) => line.follow(sweeper.onDry));
        sweeper.begin();
      });
    },
    wakeIn: (delayMs: number) => sweeper.wakeIn(delayMs),
    status(): WorkerStatus {
      const all = [...counts.values()];
      const sum = (count: keyof Counts) => all.reduce((total, each) => total + each[count], 0);
      return {
        ready: sweeper.isWell() && !bell.stopped(),
        ...{ done: sum("done"), failed: sum("failed"), running: sum("running") },
        kinds: Object.fromEntries([...counts].map(([kind, each]) => [kind, { ...each }])),
      };
    },
    async stop() {
      bell.stop();
      await sweeper.stop();
      await Promise.all(loops);
      await deps.queue.flush();
    },
  };
}

/** What wakes those who wait for jobs. */
function createBell() {
  const waiting = new Map<JobKind, () => void>();
  let isStopped = false;
  return {
    stopped: () => isStopped,
    ring: (kind: JobKind) => waiting.get(kind)?.(),
    stop() {
      isStopped = true;
      for (const wake of waiting.values()) wake();
    },
    /** Resolves after `ms`, or when the bell of the kind rings. */
    async wait(kind: JobKind, ms: number): Promise<void> {
      if (isStopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        waiting.set(kind, () => {
          clearTimeout(timer);
          resolve();
        });
      });
      waiting.delete(kind);
    },
  };
}

type Line = ReturnType<typeof createLine>;

/** The jobs of one kind in this process. */
function createLine(
  { queue, logger, concurrencyOf, pollIntervalMs }: QueueWorkerDeps,
  kind: JobKind,
  shared: {
    readonly bell: ReturnType<typeof createBell>;
    readonly jobOf: (ticket: JobTicket | null) => Job | undefined;
    readonly counts: ReadonlyMap<JobKind, Counts>;
  },
) {
  const { bell, jobOf } = shared;
  const counts = shared.counts.get(kind) ?? { done: 0, failed: 0, running: 0 };
  const concurrency = concurrencyOf(kind);
  const running = new PQueue({ concurrency });
  const taken = new Set<string>();
  let ended: string[] = [];

  const run = async (job: Job) => {
    counts.running++;
    try {
      await job.run();
      counts.done++;
    } catch (error) {
      counts.failed++;
      throw error;
    } finally {
      counts.running--;
    }
  };
  const take = async ({ id, data }: QueuedJob) => {
    const ticket = toTicket(data);
    try {
      if (bell.stopped()) {
        // Not begun: it goes back, for others, as a job that nobody has tried.
        if (ticket) queue.add(ticket);
      } else {
        const job = jobOf(ticket);
        if (!job) throw new Error("this version does not know the job");
        await run(job);
      }
      ended.push(id);
    } catch (error) {
      logger.error(`A job of ${kind} failed: ${errorLine(error)}`);
      await queue.fail(kind, [id], errorLine(error)).catch(() => {});
    } finally {
      taken.delete(id);
      bell.ring(kind);
    }
  };
  const settle = async () => {
    const ids = ended;
    if (ids.length === 0) return;
    ended = [];
    await queue.complete(kind, ids);
  };
  const round = async (onDry: (kind: JobKind) => void) => {
    await settle();
    const room = concurrency * takenPerRunning - taken.size;
    if (room < concurrency) return bell.wait(kind, pollIntervalMs);
    const jobs = await queue.fetch(kind, room);
    for (const job of jobs) {
      taken.add(job.id);
      void running.add(() => take(job));
    }
    if (jobs.length === room) return;
    if (taken.size === 0) onDry(kind);
    await bell.wait(kind, pollIntervalMs);
  };
  return {
    /** In this process, without the queue. */
    runHere: (job: Job) => void running.add(() => guarded(job.name, () => run(job), logger)),
    async follow(onDry: (kind: JobKind) => void): Promise<void> {
      while (!bell.stopped()) {
        try {
          await round(onDry);
        } catch (error) {
          logger.warn(`The queue of ${kind} could not be asked: ${errorLine(error)}`);
          await bell.wait(kind, pollIntervalMs);
        }
      }
      await running.onIdle();
      await settle().catch((error: unknown) =>
        logger.warn(`The queue of ${kind} could not be told what is done: ${errorLine(error)}`),
      );
    },
  };
}

/** Puts what the tables say is due into the queues. Where those are gone, it is done here: a lost queue loses nothing. */
function createSweeper(deps: QueueWorkerDeps, lines: ReadonlyMap<JobKind, Line>) {
  const { queue, workers, logger, sweepIntervalMs } = deps;
  const lookedAt = new Map<Worker, number>();
  const full = new Set<JobKind>();
  const timers = new Map<number, NodeJS.Timeout>();
  let interval: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let isWell = true;
  let stopped = false;

  const isTime = (worker: Worker) =>
    performance.now() - (lookedAt.get(worker) ?? Number.NEGATIVE_INFINITY) >= (worker.intervalMs ?? 0);
  const prepared = async () => {
    try {
      await queue.prepare();
      return true;
    } catch (error) {
      logger.warn(`The queues are gone, so this process works without them: ${errorLine(error)}`);
      return false;
    }
  };
  const place = (job: Job, inQueue: boolean) => {
    const line = job.ticket && lines.get(kindOfWork[job.ticket.work]);
    if (job.ticket && inQueue) queue.add(job.ticket);
    else if (line) line.runHere(job);
    else void guarded(job.name, job.run, logger);
  };
  const look = async () => {
    sweptAt = performance.now();
    const inQueue = await prepared();
    isWell = inQueue;
    full.clear();
    for (const worker of workers.filter(isTime)) {
      if (stopped) return;
      lookedAt.set(worker, performance.now());
      const due = await worker.due(queuedAtOnce);
      for (const job of due) place(job, inQueue);
      const [work] = worker.works ?? [];
      if (due.length >= queuedAtOnce && work) full.add(kindOfWork[work]);
    }
    await queue.flush();
  };
  const sweep = () => {
    sweeping ??= look()
      .catch((error: unknown) => {
        isWell = false;
        logger.error(`Looking for due work failed: ${errorLine(error)}`);
      })
      .finally(() => {
        sweeping = undefined;
      });
  };
  const wakeIn = (delayMs: number) => {
    const at = Math.ceil((performance.now() + Math.min(delayMs, longestTimerMs - 1_000)) / 1_000);
    if (stopped || timers.has(at)) return;
    const wake = () => {
      timers.delete(at);
      sweep();
    };
    timers.set(at, setTimeout(wake, at * 1_000 - performance.now()));
  };
  return {
    isWell: () => isWell,
    wakeIn,
    /** A queue is empty: where the last look did not see all that was due, the next comes at once. */
    onDry(kind: JobKind) {
      if (full.delete(kind)) wakeIn(Math.max(0, sweptAt + shortestSweepMs - performance.now()));
    },
    begin() {
      interval = setInterval(sweep, Math.min(sweepIntervalMs, longestTimerMs));
      sweep();
    },
    async stop() {
      stopped = true;
      clearInterval(interval);
      for (const timer of timers.values()) clearTimeout(timer);
      await sweeping;
    },
  };
}
