import { AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { z } from "zod";
import { longestTimerMs } from "../clock.js";
import { errorLine, type Logger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants, currentTenancy, keepTenancy } from "../postgres/isolation.js";
import { parseInput } from "../text/parse-input.js";
import type { Periodic, Within, Work } from "./define-work.js";
import { type Job, jobName, kindsField, type WorkKind, workKinds } from "./work-kinds.rule.js";

/** Which background work to start. */
export interface UpkeepInput {
  /** Only these kinds. @default all */
  readonly kinds?: readonly WorkKind[] | undefined;
}

/** Does the background work of one process, or puts it where others do it. */
export interface Runner {
  /** Resolves when `job` is under way or queued, or with inline jobs when it is done. Its error is logged. */
  start(job: Job): Promise<void>;
  /** Starts all that is due now, or what is due of some kinds. Returns how many jobs. @throws MemoryError `INVALID_INPUT` */
  upkeep(which?: UpkeepInput): Promise<number>;
  /** Looks for due work in `delayMs`. */
  wakeIn(delayMs: number): void;
  /** Looks for due work now and from time to time, for what a dead process left behind. */
  startSweeping(): void;
  /** Resolves when nothing is running or waiting in this process. */
  idle(): Promise<void>;
  /** Ends the timers and waits for what is running. */
  stop(): Promise<void>;
}

/** What runners work with. */
export interface RunnerDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly works: readonly Work[];
  readonly within: Within;
  /** Jobs at the same time. */
  readonly concurrency: number;
  readonly sweepIntervalMs: number;
}

const upkeepSchema = z.strictObject({ kinds: kindsField });

/** The works that `which` names. @throws MemoryError `INVALID_INPUT` */
export function ofKinds(works: readonly Work[], which: UpkeepInput = {}): readonly Work[] {
  const { kinds = workKinds } = parseInput(upkeepSchema, which, "upkeep");
  return works.filter(({ kind }) => kinds.includes(kind));
}

/** Does `work`; its error is logged. Whether it had none. */
export async function guarded(name: string, work: () => Promise<void>, logger: Logger): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    logger.error(`${name} failed: ${errorLine(error)}`);
    return false;
  }
}

/**
 * What looks for due work of all tenants. Where nobody asked for it, it finds nothing where tenants are isolated and this
 * process may not see them all.
 */
export function createLookout(db: Database) {
  const lookedAt = new Map<object, number>();
  /** Notes that `what` is looked for, where that is not too soon. */
  const isTime = (what: { readonly everyMs?: number | undefined }, inTime: boolean): boolean => {
    const now = performance.now();
    const at = lookedAt.get(what) ?? Number.NEGATIVE_INFINITY;
    if (inTime && now - at < (what.everyMs ?? 0)) return false;
    lookedAt.set(what, now);
    return true;
  };
  const mark = async (what: Periodic | undefined, inTime: boolean) => {
    if (what && isTime(what, inTime)) await what.run();
  };
  return {
    /** At most `limit` jobs of `work`. @param inTime whether work that is looked for seldom is left to its time. */
    async jobsOf(work: Work, { limit, inTime }: { limit: number; inTime: boolean }): Promise<Job[]> {
      if (!isTime(work, inTime)) return [];
      if (currentTenancy() === undefined && !(await db.mayCrossTenants())) return [];
      return acrossTenants(async () => {
        await mark(work.mark, inTime);
        return (await work.due(limit)).map((ref) => ({ kind: work.kind, ref }));
      });
    },
  };
}

/** Calls `ring` later: once for all that is to be in the same second. */
export function createAlarms(ring: () => void) {
  const timers = new Map<number, NodeJS.Timeout>();
  let stopped = false;
  return {
    in(delayMs: number) {
      const at = Math.ceil((performance.now() + Math.min(delayMs, longestTimerMs - 1_000)) / 1_000);
      if (stopped || timers.has(at)) return;
      const wake = () => {
        timers.delete(at);
        ring();
      };
      timers.set(at, setTimeout(wake, at * 1_000 - performance.now()).unref());
    },
    stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** Most jobs of each kind that one sweep takes on; the next sweep, or another process, finds the rest. */
const sweepLimit = 20;

/** Does background work in this process: at most `concurrency` jobs at once after the call, or before the call returns. */
export function createRunner(deps: RunnerDeps, how: "background" | "inline"): Runner {
  const { db, logger, works, within, concurrency, sweepIntervalMs } = deps;
  const background = how === "background";
  const queue = new PQueue({ concurrency });
  // A job started inside a graph's run would inherit its callbacks and stream into it; this scope has none.
  const outside = new AsyncResource("mnemograph.jobs");
  const lookout = createLookout(db);
  let sweeper: NodeJS.Timeout | undefined;
  let stopped = false;

  const run = async (name: string, work: () => Promise<void>) => {
    const done = outside.runInAsyncScope(() => {
      const job = () => guarded(name, work, logger);
      return background ? void queue.add(job) : job();
    });
    await done;
  };
  const runJob = (job: Job, seeing: <Result>(work: () => Result) => Result) => {
    const work = works.find(({ kind }) => kind === job.kind);
    return work && run(jobName(job), () => seeing(() => work.run(job, within)));
  };
  const upkeep = async (some: readonly Work[], inTime: boolean) => {
    let started = 0;
    for (const work of some) {
      const jobs = await lookout.jobsOf(work, { limit: sweepLimit, inTime });
      if (work.counted) started += jobs.length;
      await Promise.all(jobs.map((job) => runJob(job, acrossTenants)));
    }
    return started;
  };
  const sweep = () => void run("Upkeep", async () => void (await upkeep(works, true)));
  const alarms = createAlarms(sweep);

  return {
    // It sees later what the call that starts it sees.
    start: async (job) => runJob(job, keepTenancy()),
    upkeep: async (which) => upkeep(ofKinds(works, which), false),
    wakeIn(delayMs) {
      if (background) alarms.in(delayMs);
    },
    startSweeping() {
      if (!background || sweeper || stopped || works.length === 0) return;
      sweeper = setInterval(sweep, Math.min(sweepIntervalMs, longestTimerMs)).unref();
      sweep();
    },
    idle: () => queue.onIdle(),
    async stop() {
      stopped = true;
      clearInterval(sweeper);
      alarms.stop();
      await queue.onIdle();
    },
  };
}
