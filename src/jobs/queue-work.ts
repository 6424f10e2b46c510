import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import { abortSignal, parseInput } from "../text/parse-input.js";
import {
  type BackgroundWork,
  type Job,
  kindsSchema,
  ofKinds,
  parseUpkeep,
  type Worker,
} from "./background-work.js";
import { type JobKind, jobKinds } from "./job-kinds.rule.js";
import type { JobQueue } from "./job-queue.js";
import type { QueueWorkerDeps } from "./queue-line.js";
import { createQueueWorker } from "./queue-worker.js";
import { queuedAtOnce, type WorkerStatus } from "./worker-status.js";

/** Which queued jobs a process does. */
export interface WorkInput {
  /** Only these kinds. @default all that the memory has workers for */
  readonly kinds?: readonly JobKind[] | undefined;
  /** Stops the worker, as `stop` does. */
  readonly signal?: AbortSignal | undefined;
}

/** A process's work on queued jobs. */
export interface JobWorker {
  /** What it has done and does; it asks nothing. */
  status(): WorkerStatus;
  /** Takes no more jobs, gives back what has not begun, and resolves when what runs has ended. */
  stop(): Promise<void>;
}

/** The background work of a process that puts jobs in queues, and does some where it is asked to. */
export interface QueuedWork extends BackgroundWork {
  /** @throws MemoryError `INVALID_INPUT`, `PERMISSION_DENIED`, `CLOSED` */
  work(input?: WorkInput): Promise<JobWorker>;
}

const workSchema = z.strictObject({
  kinds: kindsSchema,
  signal: abortSignal.optional(),
});

/** @throws MemoryError `INVALID_INPUT` */
export function parseWork(input: WorkInput | undefined) {
  return parseInput(workSchema, input ?? {}, "work");
}

/**
 * Background work by queues.
 *
 * @param local does what no queue can hold, in this process.
 * @param own those of the workers whose jobs this process can do: without a model only some.
 * @param mayWork whether this process may see all that its jobs are about.
 */
export function createQueuedWork(
  deps: QueueWorkerDeps & {
    readonly own: readonly Worker[];
    readonly local: BackgroundWork;
    readonly mayWork: () => Promise<boolean>;
  },
): QueuedWork {
  const { queue, workers, local } = deps;
  let working: ReturnType<typeof createQueueWorker> | undefined;
  let stopped = false;
  return {
    start: async (job) => start(queue, local, job),
    async upkeep(which) {
      let found = 0;
      for (const worker of workers.filter(ofKinds(parseUpkeep(which)))) {
        const due = await worker.due(queuedAtOnce);
        if (worker.counted !== false) found += due.length;
        for (const job of due) await start(queue, local, job);
      }
      return found;
    },
    // Who only puts jobs in queues looks for none: workers do.
    wakeIn: (delayMs) => working?.wakeIn(delayMs),
    startSweeping() {},
    async idle() {
      await queue.flush();
      await local.idle();
    },
    async work(input = {}) {
      const { kinds = jobKinds, signal } = parseWork(input);
      if (stopped) throw new MemoryError("CLOSED", "This memory is closed.");
      if (working)
        throw new MemoryError("INVALID_INPUT", "This memory works already: stop that worker first.");
      const mine = createQueueWorker({ ...deps, workers: deps.own.filter(ofKinds(kinds)), kinds });
      working = mine;
      const stop = async () => {
        await mine.stop();
        if (working === mine) working = undefined;
      };
      try {
        await requireAll(deps.mayWork);
        await queue.prepare().catch((error: unknown) => {
          if (error instanceof MemoryError) throw error;
          // Queues that cannot be made now are tried again; meanwhile it works by what the tables say.
          deps.logger.warn(`The queues cannot be made: ${errorLine(error)}`);
        });
      } catch (error) {
        working = undefined;
        throw error;
      }
      mine.begin();
      if (signal?.aborted) await stop();
      else signal?.addEventListener("abort", () => void stop(), { once: true });
      return { status: mine.status, stop };
    },
    async stop() {
      stopped = true;
      await working?.stop();
      await local.stop();
      await queue.close();
    },
  };
}

async function start(queue: JobQueue, local: BackgroundWork, job: Job): Promise<void> {
  if (job.ticket) queue.add(job.ticket);
  else await local.start(job);
}

async function requireAll(mayWork: () => Promise<boolean>): Promise<void> {
  if (await mayWork()) return;
  throw new MemoryError(
    "PERMISSION_DENIED",
    "Workers do the work of all tenants, which only the role may that owns the tables: connect as that role.",
  );
}
