import { AsyncResource } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { maxTimerMs } from "../clock.js";
import { errorLine, type Logger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants, currentTenancy, keepTenancy } from "../postgres/isolation.js";
import { parseInput } from "../text/parse-input.js";
import type { Within, Work } from "./define-work.js";
import { createFairQueue } from "./fair-queue.js";
import { type Job, jobName, kindsField, type WorkKind, workKinds } from "./work-kinds.rule.js";

export interface UpkeepInput {
  /** @default all */
  readonly kinds?: readonly WorkKind[] | undefined;
}

export interface Runner {
  /**
   * Resolves when `job` is running or queued (inline: done); logs its error. `others` follow it in
   * this process.
   */
  start(job: Job, others?: readonly Job[]): Promise<void>;
  /** Starts all due work; returns the number of jobs. @throws MemoryError `INVALID_INPUT` */
  upkeep(which?: UpkeepInput): Promise<number>;
  /** @param again a job to start then, which `idle` waits for. @default looks for all due work */
  wakeIn(delayMs: number, again?: Job): void;
  startSweeping(): void;
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export interface RunnerDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly works: readonly Work[];
  readonly within: Within;
  readonly concurrency: number;
  readonly sweepIntervalMs: number;
}

const upkeepSchema = z.strictObject({ kinds: kindsField });

export function ofKinds(works: readonly Work[], which: UpkeepInput = {}): readonly Work[] {
  const { kinds = workKinds } = parseInput(upkeepSchema, which, "upkeep");
  return works.filter(({ kind }) => kinds.includes(kind));
}

export async function guarded(
  name: string,
  work: () => Promise<void>,
  logger: Logger,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    logger.error(`${name} failed: ${errorLine(error)}`);
    return false;
  }
}

/**
 * Passes due work to `take`, if this process may see all tenants; returns the number of counted
 * jobs.
 */
export function createLookout(db: Database) {
  const lookedAt = new Map<object, number>();
  const isTime = (what: { readonly everyMs?: number | undefined }, inTime: boolean): boolean => {
    const now = performance.now();
    const at = lookedAt.get(what) ?? Number.NEGATIVE_INFINITY;
    if (inTime && now - at < (what.everyMs ?? 0)) return false;
    lookedAt.set(what, now);
    return true;
  };
  return async (
    works: readonly Work[],
    /** `inTime` skips work whose `everyMs` has not passed. `limit`: jobs per kind. */
    { limit, inTime }: { readonly limit: number; readonly inTime: boolean },
    take: (job: Job, work: Work, place: number) => unknown,
  ): Promise<number> => {
    let found = 0;
    for (const work of works) {
      if (!isTime(work, inTime)) continue;
      if (currentTenancy() === undefined && !(await db.mayCrossTenants())) continue;
      const refs = await acrossTenants(async () => {
        if (work.mark && isTime(work.mark, inTime)) await work.mark.run();
        if (!inTime) await work.hasten?.();
        return work.due(limit);
      });
      if (!work.uncounted) found += refs.length;
      await Promise.all(refs.map((ref, place) => take({ kind: work.kind, ref }, work, place)));
    }
    return found;
  };
}

/** Calls `sweep` at the start, every `everyMs`, and on demand, once per second at most. */
export function createSweeper(sweep: () => void, everyMs: number) {
  const timers = new Map<number, NodeJS.Timeout>();
  let interval: NodeJS.Timeout | undefined;
  let stopped = false;
  return {
    wakeIn(delayMs: number) {
      const at = Math.ceil((performance.now() + Math.min(delayMs, maxTimerMs - 1_000)) / 1_000);
      if (stopped || timers.has(at)) return;
      const wake = () => {
        timers.delete(at);
        sweep();
      };
      timers.set(at, setTimeout(wake, at * 1_000 - performance.now()).unref());
    },
    start() {
      if (interval || stopped) return;
      interval = setInterval(sweep, Math.min(everyMs, maxTimerMs)).unref();
      sweep();
    },
    stop() {
      stopped = true;
      clearInterval(interval);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

const sweepLimit = 20;

/** Runs background work in this process, after the call or ("inline") before it returns. */
export function createRunner(deps: RunnerDeps, how: "background" | "inline"): Runner {
  const { db, logger, works, within } = deps;
  const background = how === "background";
  const queue = createFairQueue(deps.concurrency);
  // Leaves the caller's async context: a job would stream into the graph run that started it.
  const outside = new AsyncResource("mnemograph.jobs");
  const lookFor = createLookout(db);

  const run = async (name: string, work: () => Promise<void>) => {
    const job = () => outside.runInAsyncScope(() => guarded(name, work, logger));
    await (background ? void queue.add(job) : job());
  };
  type Seeing = <Result>(work: () => Result) => Result;
  const runJob = async (job: Job, seeing: Seeing, others: readonly Job[] = []): Promise<void> => {
    const work = works.find(({ kind }) => kind === job.kind);
    const follow = () => seeing(() => Promise.all(others.map((other) => runJob(other, seeing))));
    if (!work) return void (await follow());
    await run(jobName(job), async () => {
      await seeing(() => work.run(job, within)).finally(follow);
    });
  };
  const stopping = new AbortController();
  const later = new Set<Promise<void>>();
  const upkeep = (some: readonly Work[], inTime: boolean) =>
    lookFor(some, { limit: sweepLimit, inTime }, (job) => runJob(job, acrossTenants));
  const sweep = () => void run("Upkeep", async () => void (await upkeep(works, true)));
  const sweeper = createSweeper(sweep, deps.sweepIntervalMs);

  return {
    start: (job, others) => runJob(job, keepTenancy(), others),
    upkeep: async (which) => upkeep(ofKinds(works, which), false),
    wakeIn(delayMs, again) {
      if (!background) return;
      if (!again) return sweeper.wakeIn(delayMs);
      const seeing = keepTenancy();
      const started = wait(delayMs, undefined, { signal: stopping.signal, ref: false }).then(
        () => runJob(again, seeing),
        () => {},
      );
      later.add(started);
      void started.finally(() => later.delete(started));
    },
    startSweeping() {
      if (background && works.length > 0) sweeper.start();
    },
    async idle() {
      await queue.idle();
      while (later.size > 0) {
        await Promise.all(later);
        await queue.idle();
      }
    },
    async stop() {
      stopping.abort();
      sweeper.stop();
      await queue.idle();
    },
  };
}
