import { AsyncResource } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { parseInput } from "../input/parse-input.js";
import { errorLine, type Logger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants, keepTenancy } from "../postgres/isolation.js";
import type { Within, Work } from "./define-work.js";
import { createFairQueue } from "./fair-queue.js";
import { createLook, createSweeper, type LookReason } from "./find-due-work.js";
import { createLanes, type Lanes } from "./lanes.js";
import { type Job, jobName, kindsField, type WorkKind, workKinds } from "./work-kinds.rule.js";

/** What runs jobs for a memory: a runner of this process, or what wakes workers. */
export type Runner = Omit<ReturnType<typeof createRunner>, "wake" | "isFree" | "counts">;

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

const upkeepSchema = z.strictObject({
  /** @default all */
  kinds: kindsField,
});

export interface UpkeepInput extends z.input<typeof upkeepSchema> {}

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

type Seeing = <Result>(work: () => Result) => Result;

/**
 * What one look finds at most, and how long its order is followed before the tenants of newer work
 * get their turns. Workers share what they find; inline, only what one look found is done.
 */
const looks = {
  background: { limit: 20, freshMs: 1_000 },
  inline: { limit: 20, freshMs: Number.POSITIVE_INFINITY },
  worker: { limit: 2_000, freshMs: 1_000 },
};

type Mode = keyof typeof looks;

/** Runs single jobs, and counts them. */
function createJobRuns({ works, within, logger, concurrency }: RunnerDeps, how: Mode) {
  const inTurn = createFairQueue(concurrency);
  // Leaves the caller's async context: a job would stream into the graph run that started it.
  const outside = new AsyncResource("mnemograph.jobs");
  const counts = new Map(works.map(({ kind }) => [kind, { done: 0, failed: 0, running: 0 }]));
  const runFirst = async (work: Work, refs: number[], seeing: Seeing): Promise<void> => {
    const count = counts.get(work.kind) as Counts;
    const name = jobName({ kind: work.kind, ref: refs[0] ?? 0 });
    count.running++;
    const job = async () => {
      if (await seeing(() => work.run(refs, within))) count.done++;
    };
    const isWell = await guarded(name, job, logger);
    count.running--;
    if (!isWell) count.failed++;
  };
  return {
    counts,
    /** Resolves when the job is over; its error is logged. */
    run(work: Work, refs: number[], seeing: Seeing): Promise<void> {
      const job = () => outside.runInAsyncScope(() => runFirst(work, refs, seeing));
      return how === "background" ? seeing(() => inTurn(job)) : job();
    },
  };
}

/** What is under way, and the wait for all of it. */
function createUnderWay() {
  const underWay = new Set<Promise<unknown>>();
  return {
    track<Result>(work: Promise<Result>): Promise<Result> {
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
      return work;
    },
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/**
 * Runs background work in this process: after the call that made it due, before that call returns
 * ("inline"), or what the tables say is due ("worker", `concurrency` jobs of each kind).
 */
export function createRunner(deps: RunnerDeps, how: Mode) {
  const { logger, works } = deps;
  const stopping = new AbortController();
  const { track, idle } = createUnderWay();
  // Outside of the call that begins it.
  const outside = new AsyncResource("mnemograph.runner");
  const { run, counts } = createJobRuns(deps, how);
  const look = createLook(deps.db, looks[how].limit);
  const lanes = new Map<WorkKind, Lanes>();
  for (const work of works) {
    const doing = {
      look: () => look(work, "interval"),
      run: (refs: number[]) => run(work, refs, acrossTenants),
      open: (lane: () => Promise<void>) => track(guarded(lookName, lane, logger)),
    };
    lanes.set(work.kind, createLanes({ max: deps.concurrency, ...looks[how], ...doing }));
  }
  /** Returns how many jobs it found. */
  const begin = async (work: Work, reason: LookReason): Promise<number> => {
    const lookedAt = performance.now();
    const refs = await look(work, reason);
    const { length } = refs;
    lanes.get(work.kind)?.follow(refs, lookedAt);
    return length;
  };
  const sweepAll = async () => {
    for (const work of works) await begin(work, "interval");
  };
  const sweep = () => guarded(lookName, sweepAll, logger);
  const sweeper = createSweeper(() => track(outside.runInAsyncScope(sweep)), deps.sweepIntervalMs);
  const runJob = async (job: Job, seeing: Seeing, others: readonly Job[]): Promise<void> => {
    const work = works.find(({ kind }) => kind === job.kind);
    if (work) await run(work, [job.ref], seeing);
    await Promise.all(others.map((other) => runJob(other, seeing, [])));
  };
  return {
    /**
     * Resolves when `job` is running or queued (inline: done); logs its error. `others` follow it
     * in this process.
     */
    async start(job: Job, others: readonly Job[] = []) {
      const started = track(runJob(job, keepTenancy(), others));
      if (how === "inline") await started;
    },
    /** Starts all due work; returns the number of jobs. @throws MemoryError `INVALID_INPUT` */
    async upkeep(which?: UpkeepInput) {
      let found = 0;
      for (const work of ofKinds(works, which)) {
        const jobs = await begin(work, "upkeep");
        if (!work.uncounted) found += jobs;
        if (how === "inline") await idle();
      }
      return found;
    },
    /** @param again a job to start then, which `idle` waits for. @default looks for all due work */
    wakeIn(delayMs: number, again?: Job) {
      if (how === "inline") return;
      if (!again) return sweeper.wakeIn(delayMs);
      const seeing = keepTenancy();
      const begin = () => runJob(again, seeing, []);
      const delayed = wait(delayMs, undefined, { signal: stopping.signal, ref: false });
      void track(delayed.then(begin, () => {}));
    },
    startSweeping() {
      if (how !== "inline" && works.length > 0) sweeper.start();
    },
    idle,
    async stop() {
      stopping.abort();
      sweeper.stop();
      for (const each of lanes.values()) each.stop();
      await idle();
    },
    wake: (work: Work) => outside.runInAsyncScope(() => begin(work, "wake")),
    isFree: ({ kind }: Work) => lanes.get(kind)?.isFree() === true,
    counts,
  };
}

const lookName = "Looking for due work";
