import { AsyncResource } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { longestTimerMs } from "../clock.js";
import { errorLine, type Logger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants, currentTenancy, keepTenancy } from "../postgres/isolation.js";
import { parseInput } from "../text/parse-input.js";
import type { Within, Work } from "./define-work.js";
import { createFairQueue } from "./fair-queue.js";
import { createLanes, type Lanes } from "./lanes.js";
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

/** A runner whose jobs are done in this process. */
interface ProcessRunner extends Runner {
  /** Looks for due work of one kind; returns how many jobs it found. */
  wake(work: Work): Promise<number>;
  isFree(work: Work): boolean;
  /** Whether it found jobs that it has not begun. */
  hasMore(work: Work): boolean;
  counts(): ReadonlyMap<WorkKind, Readonly<Counts>>;
}

export interface Counts {
  done: number;
  failed: number;
  running: number;
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
  work: () => Promise<unknown>,
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
 * Why a runner looks: at its interval, because another process or a caller knows of new work, or
 * because `upkeep` asks for all work, including work that waits for more messages.
 */
type LookReason = "interval" | "wake" | "upkeep";

/** Finds due work, if this process may see all tenants: at most `limit` threads or owners. */
export function createLook(db: Database, limit: number) {
  const lookedAt = new Map<object, number>();
  const isTime = (what: { readonly everyMs?: number | undefined }, always: boolean): boolean => {
    const now = performance.now();
    const at = lookedAt.get(what) ?? Number.NEGATIVE_INFINITY;
    if (!always && now - at < (what.everyMs ?? 0)) return false;
    lookedAt.set(what, now);
    return true;
  };
  return async (work: Work, reason: LookReason): Promise<number[]> => {
    if (!isTime(work, reason !== "interval")) return [];
    if (currentTenancy() === undefined && !(await db.mayCrossTenants())) return [];
    return acrossTenants(async () => {
      if (work.mark && isTime(work.mark, reason === "upkeep")) await work.mark.run();
      if (reason === "upkeep") await work.hasten?.();
      return work.due(limit);
    });
  };
}

/** Calls `sweep` at the start, every `everyMs`, and on demand, once per second at most. */
function createSweeper(sweep: () => void, everyMs: number) {
  const timers = new Map<number, NodeJS.Timeout>();
  let interval: NodeJS.Timeout | undefined;
  let stopped = false;
  return {
    wakeIn(delayMs: number) {
      const at = Math.ceil((performance.now() + Math.min(delayMs, longestTimerMs - 1_000)) / 1_000);
      if (stopped || timers.has(at)) return;
      const wake = () => {
        timers.delete(at);
        sweep();
      };
      timers.set(at, setTimeout(wake, at * 1_000 - performance.now()).unref());
    },
    start() {
      if (interval || stopped) return;
      interval = setInterval(sweep, Math.min(everyMs, longestTimerMs)).unref();
      sweep();
    },
    stop() {
      stopped = true;
      clearInterval(interval);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

type Seeing = <Result>(work: () => Result) => Result;

/**
 * What one look finds at most, and how long its order is followed before the tenants of newer work
 * get their turns. Workers share what they find; inline, only what one look found is done.
 */
const looks = {
  background: { limit: 20, freshMs: 1_000, repeats: true },
  inline: { limit: 20, freshMs: Number.POSITIVE_INFINITY, repeats: false },
  worker: { limit: 2_000, freshMs: 1_000, repeats: true },
};

/**
 * Runs background work in this process: after the call that made it due, before that call returns
 * ("inline"), or what the tables say is due ("worker", `concurrency` jobs of each kind).
 */
export function createRunner(deps: RunnerDeps, how: keyof typeof looks): ProcessRunner {
  const { db, logger, works, within, concurrency } = deps;
  const inTurn = createFairQueue(concurrency);
  // Leaves the caller's async context: a job would stream into the graph run that started it.
  const outside = new AsyncResource("mnemograph.jobs");
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const counts = new Map(works.map(({ kind }) => [kind, { done: 0, failed: 0, running: 0 }]));
  const { limit, freshMs, repeats } = looks[how];
  const look = createLook(db, limit);

  const track = (promise: Promise<unknown>) => {
    underWay.add(promise);
    void promise.finally(() => underWay.delete(promise));
  };
  const doFirst = async (work: Work, refs: number[], seeing: Seeing): Promise<void> => {
    const count = counts.get(work.kind) as Counts;
    const name = jobName({ kind: work.kind, ref: refs[0] ?? 0 });
    count.running++;
    const isWell = await guarded(
      name,
      async () => {
        if (await seeing(() => work.run(refs, within))) count.done++;
      },
      logger,
    );
    count.running--;
    if (!isWell) count.failed++;
  };
  const run = (work: Work, refs: number[], seeing: Seeing): Promise<void> => {
    const job = () => outside.runInAsyncScope(() => doFirst(work, refs, seeing));
    return how === "background" ? seeing(() => inTurn(job)) : job();
  };
  const runJob = async (job: Job, seeing: Seeing, others: readonly Job[]): Promise<void> => {
    const work = works.find(({ kind }) => kind === job.kind);
    if (work) await run(work, [job.ref], seeing);
    await Promise.all(others.map((other) => runJob(other, seeing, [])));
  };
  const lookSafely = async (work: Work, reason: LookReason): Promise<number[]> => {
    let found: number[] = [];
    const ask = async () => {
      found = await look(work, reason);
    };
    await guarded("Looking for due work", ask, logger);
    return found;
  };
  const lanesOf = new Map<WorkKind, Lanes>();
  for (const work of works) {
    const lanes = createLanes({
      most: concurrency,
      limit: repeats ? limit : Number.POSITIVE_INFINITY,
      freshMs,
      look: () => lookSafely(work, "interval"),
      run: (refs) => run(work, refs, acrossTenants),
      onOpen: track,
    });
    lanesOf.set(work.kind, lanes);
  }
  const lanesFor = (work: Work) => lanesOf.get(work.kind) as Lanes;
  /** Returns how many jobs it found. */
  const wake = async (work: Work, reason: LookReason): Promise<number> => {
    const lookedAt = performance.now();
    const refs = await lookSafely(work, reason);
    const found = refs.length;
    lanesFor(work).follow(refs, lookedAt);
    return found;
  };
  const sweep = async () => {
    for (const work of works) await wake(work, "interval");
  };
  const sweeper = createSweeper(() => track(outside.runInAsyncScope(sweep)), deps.sweepIntervalMs);
  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };
  return {
    async start(job, others = []) {
      const started = runJob(job, keepTenancy(), others);
      if (how === "inline") await started;
      else track(started);
    },
    async upkeep(which) {
      let found = 0;
      for (const work of ofKinds(works, which)) {
        const lookedAt = performance.now();
        const refs = await look(work, "upkeep");
        if (!work.uncounted) found += refs.length;
        outside.runInAsyncScope(() => lanesFor(work).follow(refs, lookedAt));
        if (how === "inline") await idle();
      }
      return found;
    },
    wakeIn(delayMs, again) {
      if (how === "inline") return;
      if (!again) return sweeper.wakeIn(delayMs);
      const seeing = keepTenancy();
      const delayed = wait(delayMs, undefined, { signal: stopping.signal, ref: false });
      track(
        delayed.then(
          () => runJob(again, seeing, []),
          () => {},
        ),
      );
    },
    startSweeping() {
      if (how !== "inline" && works.length > 0) sweeper.start();
    },
    idle,
    async stop() {
      stopping.abort();
      sweeper.stop();
      for (const lanes of lanesOf.values()) lanes.stop();
      await idle();
    },
    wake: (work: Work) => outside.runInAsyncScope(() => wake(work, "wake")),
    isFree: (work: Work) => lanesFor(work).isFree(),
    hasMore: (work: Work) => lanesFor(work).hasMore(),
    counts: () => counts,
  };
}
