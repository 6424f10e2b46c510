import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { z } from "zod";
import { longestTimerMs } from "../clock.js";
import { errorLine, type Logger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants, currentTenancy, keepTenancy } from "../postgres/isolation.js";
import { parseInput } from "../text/parse-input.js";
import { type JobKind, type JobTicket, jobKinds, kindOfWork, type WorkName } from "./job-kinds.rule.js";

/** Runs background work. A job's error is logged and goes no further: the tables say what is still due. */
export interface JobRunner {
  /** Resolves when `job` is under way ("background") or done ("inline"). */
  run(name: string, job: () => Promise<void>): Promise<void>;
  /** Resolves when nothing is running or waiting. */
  idle(): Promise<void>;
}

/** Jobs in this process, at most `concurrency` at once. */
export function backgroundJobs(concurrency: number, logger: Logger): JobRunner {
  const queue = new PQueue({ concurrency });
  const scope = outsideAnyRun();
  return {
    async run(name, job) {
      scope.runInAsyncScope(() => void queue.add(() => guarded(name, job, logger)));
    },
    idle: () => queue.onIdle(),
  };
}

/** Jobs done before the call returns. */
export function inlineJobs(logger: Logger): JobRunner {
  const scope = outsideAnyRun();
  return {
    run: (name, job) => scope.runInAsyncScope(() => guarded(name, job, logger)),
    idle: async () => {},
  };
}

/** A job started inside a graph's run would inherit its callbacks and stream into it; this scope has none. */
function outsideAnyRun(): AsyncResource {
  return new AsyncResource("mnemograph.jobs");
}

/** Does `job`; its error is logged. */
export async function guarded(name: string, job: () => Promise<void>, logger: Logger): Promise<void> {
  try {
    await job();
  } catch (error) {
    logger.error(`${name} failed: ${errorLine(error)}`);
  }
}

/** A piece of work that is to be done now. */
export interface Job {
  /** For the log. */
  readonly name: string;
  readonly run: () => Promise<void>;
  /** What a queue keeps of it. @default it is done in this process */
  readonly ticket?: JobTicket;
}

/** Who does one kind of work, which it finds in the tables. */
export interface Worker {
  /** How often sweeps ask it, where that is less often than they run. */
  readonly intervalMs?: number;
  /** False for tidying up, which nobody waits for: `upkeep` does it and does not count it. @default true */
  readonly counted?: boolean;
  /** At most `limit` jobs that are due now. */
  due(limit: number): Promise<Job[]>;
  /** The work that it knows by name, and can do from a ticket. @default none */
  readonly works?: readonly WorkName[];
  /** The job of a ticket of `works`. */
  at?(ticket: JobTicket): Job;
}

/** The background work of one process. */
export interface BackgroundWork {
  /** Resolves when `job` is under way ("background") or done ("inline"). Its error is logged. */
  start(job: Job): Promise<void>;
  /** Starts everything that is due now, as `start` does, or what is due of some kinds. Returns how many jobs. */
  upkeep(which?: UpkeepInput): Promise<number>;
  /** Looks for due work in `delayMs`, or when timers wait no longer. Does nothing with inline jobs. */
  wakeIn(delayMs: number): void;
  /** Looks for due work now and from time to time, for what a dead process left behind. Nothing with inline jobs. */
  startSweeping(): void;
  /** Resolves when nothing is running or waiting. */
  idle(): Promise<void>;
  /** Ends the timers and waits for what is running. */
  stop(): Promise<void>;
}

/** Which background work to start. */
export interface UpkeepInput {
  /** Only these kinds. @default all */
  readonly kinds?: readonly JobKind[] | undefined;
}

/** Kinds of work, as callers name them. */
export const kindsSchema = z
  .array(z.enum(jobKinds as [JobKind, ...JobKind[]]))
  .min(1)
  .optional();
const upkeepSchema = z.strictObject({ kinds: kindsSchema });

/** The kinds that `which` names. @throws MemoryError `INVALID_INPUT` */
export function parseUpkeep(which: UpkeepInput | undefined): readonly JobKind[] {
  return parseInput(upkeepSchema, which ?? {}, "upkeep").kinds ?? jobKinds;
}

/** Workers whose jobs are of some of `kinds`; one that only marks what is due belongs to all. */
export function ofKinds(kinds: readonly JobKind[]): (worker: Worker) => boolean {
  return ({ works = [] }) => works.length === 0 || works.some((work) => kinds.includes(kindOfWork[work]));
}

/** Most jobs of each worker that one sweep takes on; the next sweep, or another process, finds the rest. */
const sweepLimit = 20;

/**
 * The background work of this process: what `workers` find, on a queue in the background or before the call returns.
 *
 * @param options.workers asked at each sweep; none means that there is nothing to look for.
 */
export function createBackgroundWork(options: {
  readonly jobs: "background" | "inline";
  readonly concurrency: number;
  readonly sweepIntervalMs: number;
  readonly logger: Logger;
  readonly workers: readonly Worker[];
}): BackgroundWork {
  const { logger, workers } = options;
  const background = options.jobs === "background";
  const jobs = background ? backgroundJobs(options.concurrency, logger) : inlineJobs(logger);
  const timers = new Set<NodeJS.Timeout>();
  let sweeper: NodeJS.Timeout | undefined;
  let stopped = false;

  const asked = rememberAsked();
  const upkeep = async (wanted: (worker: Worker) => boolean = () => true) => {
    let started = 0;
    for (const worker of workers.filter(wanted)) {
      asked.note(worker);
      const due = await worker.due(sweepLimit);
      if (worker.counted !== false) started += due.length;
      await Promise.all(due.map(({ name, run }) => jobs.run(name, run)));
    }
    return started;
  };
  const sweep = () => void jobs.run("Upkeep", async () => void (await upkeep(asked.isTime)));

  return {
    start: ({ name, run }) => jobs.run(name, run),
    upkeep: async (which) => upkeep(ofKinds(parseUpkeep(which))),
    wakeIn(delayMs) {
      if (!background || stopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          sweep();
        },
        Math.min(delayMs, longestTimerMs),
      ).unref();
      timers.add(timer);
    },
    startSweeping() {
      if (!background || sweeper || stopped || workers.length === 0) return;
      sweeper = setInterval(sweep, Math.min(options.sweepIntervalMs, longestTimerMs)).unref();
      sweep();
    },
    idle: () => jobs.idle(),
    async stop() {
      stopped = true;
      clearInterval(sweeper);
      for (const timer of timers) clearTimeout(timer);
      await jobs.idle();
    },
  };
}

/** When each worker was asked last, for those that sweeps ask less often than they run. */
export function rememberAsked() {
  const askedAt = new Map<Worker, number>();
  return {
    isTime: (worker: Worker) =>
      performance.now() - (askedAt.get(worker) ?? Number.NEGATIVE_INFINITY) >= (worker.intervalMs ?? 0),
    note: (worker: Worker) => void askedAt.set(worker, performance.now()),
  };
}

/** `job`, which later sees what the call that starts it sees. */
export function keepTenant(job: Job): Job {
  const keep = keepTenancy();
  return { ...job, run: () => keep(job.run) };
}

/** The worker of one job that tidies up from time to time, whether or not there is anything to do. */
export function sweepWork(
  work: WorkName,
  { intervalMs, name, run }: Pick<Job, "name" | "run"> & { readonly intervalMs: number },
): Worker {
  const job: Job = { name, run, ticket: { work } };
  return { ...{ intervalMs, counted: false, works: [work] }, at: () => job, due: async () => [job] };
}

/**
 * `worker` for all tenants. In a sweep, which nobody asked for, it finds nothing where tenants are isolated and this
 * process may not see them all.
 */
export function acrossAllTenants(db: Database, worker: Worker): Worker {
  const forAll = (job: Job): Job => ({ ...job, run: () => acrossTenants(job.run) });
  const { at } = worker;
  return {
    ...worker,
    async due(limit) {
      if (currentTenancy() === undefined && !(await db.mayCrossTenants())) return [];
      const due = await acrossTenants(() => worker.due(limit));
      return due.map(forAll);
    },
    ...(at && { at: (ticket: JobTicket) => forAll(at(ticket)) }),
  };
}
