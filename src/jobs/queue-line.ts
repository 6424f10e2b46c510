import PQueue from "p-queue";
import { errorLine, type Logger } from "../logger.js";
import { guarded, type Job, type Worker } from "./background-work.js";
import { type JobKind, type JobTicket, toTicket } from "./job-kinds.rule.js";
import type { JobQueue, QueuedJob } from "./job-queue.js";

/** What a process needs to work on queued jobs. */
export interface QueueWorkerDeps {
  readonly queue: JobQueue;
  readonly workers: readonly Worker[];
  readonly logger: Logger;
  /** Jobs of a kind at the same time. */
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
}

/** Jobs taken from a queue for each that runs: those that wait here need no round trip when their turn comes. */
const takenPerRunning = 4;

/** Counts of one kind. */
export interface Counts {
  done: number;
  failed: number;
  running: number;
}

/** What wakes those who wait for jobs. */
export function createBell() {
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

/** The jobs of one kind in this process. */
export type Line = ReturnType<typeof createLine>;

/** Takes the jobs of `kind` from its queue and does them, so many at the same time. */
export function createLine(
  { queue, logger, concurrency, pollIntervalMs }: QueueWorkerDeps,
  kind: JobKind,
  shared: {
    readonly bell: ReturnType<typeof createBell>;
    readonly jobOf: (ticket: JobTicket | null) => Job | undefined;
    readonly counts: Counts;
  },
) {
  const { bell, jobOf, counts } = shared;
  const running = new PQueue({ concurrency });
  const taken = new Set<string>();
  let ended: string[] = [];

  const take = async ({ id, data }: QueuedJob) => {
    const ticket = toTicket(data);
    try {
      if (bell.stopped()) {
        // Not begun: it goes back, for others, as a job that nobody has tried.
        if (ticket) queue.add(ticket);
      } else {
        const job = jobOf(ticket);
        if (!job) throw new Error("this version does not know the job");
        await counted(job, counts);
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
    runHere: (job: Job) => void running.add(() => guarded(job.name, () => counted(job, counts), logger)),
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

async function counted(job: Job, counts: Counts): Promise<void> {
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
}
