import { AsyncResource } from "node:async_hooks";
import { MemoryError } from "../errors.js";
import { errorLine, type Logger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf, isTimeout } from "../postgres/database-error.js";
import { retrying } from "../postgres/retry.js";
import { createTurns } from "./fair-queue.js";
import { type Job, jobName, type WorkKind, workKinds } from "./work-kinds.rule.js";

/** The part of pg-boss 10.4 in use: programs without pg-boss need no declarations. */
export interface PgBossInstance {
  getQueues(): Promise<readonly { readonly name: string }[]>;
  createQueue(name: string, options?: object): Promise<unknown>;
  insert(jobs: object[]): Promise<unknown>;
  fetch(
    name: string,
    options: { batchSize: number },
  ): Promise<readonly { readonly id: string; readonly data: unknown }[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
}

/** pg-boss's own options; without a connection it uses the memory's pool. */
interface PgBossOptions {
  /** The schema of pg-boss's tables. @default "pgboss" */
  readonly schema?: string;
  readonly [option: string]: unknown;
}

export type QueueOption = PgBossInstance | { readonly pgBoss: PgBossOptions };

interface Taking {
  readonly most: number;
  readonly pollIntervalMs: number;
  take(data: readonly unknown[]): Promise<void>;
}

interface QueuedJob {
  readonly job: Job;
  readonly priority: number;
}

/** Queued jobs are hints and may be lost: the tables record due work. */
export interface JobQueue {
  /**
   * Never throws: sweeps find jobs that could not be queued. @param place
   * @default the caller's next turn
   */
  add(job: Job, place?: number): void;
  prepare(): Promise<unknown>;
  work(kind: WorkKind, taking: Taking): void;
  stopWork(): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * "short": one job of a key waits while one runs. Retries are for dead processes, not for failed
 * work.
 */
const queueOptions = { policy: "short", retryLimit: 3, retryDelay: 10, retryBackoff: true };

/** Each queue is a table; processes that create them concurrently deadlock, and one succeeds. */
const whileOthersMakeThem = {
  most: 10,
  waitMs: (failures: number) => Math.random() * 100 * failures,
  when: (error: unknown) => errorCodeOf(error) === "40P01",
};

export function createJobQueue(db: Database, option: QueueOption, logger: Logger): JobQueue {
  const outside = new AsyncResource("mnemograph.queue");
  const waiting = new Map<string, QueuedJob>();
  const nextTurn = createTurns();
  const takers = new Map<WorkKind, ReturnType<typeof createTaker>>();
  const nameOf = (kind: WorkKind) => `${db.schemaName}-${kind}`;
  const opening = openOnce(db, option, logger);
  let isPrepared = false;
  let flushing: Promise<void> | undefined;

  const makeMissing = async () => {
    const boss = await opening.open();
    const there = new Set((await boss.getQueues()).map(({ name }) => name));
    for (const kind of workKinds) {
      if (!there.has(nameOf(kind))) await boss.createQueue(nameOf(kind), queueOptions);
    }
    return boss;
  };
  const prepare = async () => {
    isPrepared = false;
    const boss = await retrying(makeMissing, whileOthersMakeThem);
    isPrepared = true;
    return boss;
  };
  const insert = async (jobs: readonly QueuedJob[]) => {
    const boss = isPrepared ? await opening.open() : await prepare();
    const rows = jobs.map(({ job, priority }) => {
      return { name: nameOf(job.kind), data: job, singletonKey: `${job.ref}`, priority };
    });
    await boss.insert(rows);
    for (const { job } of jobs) takers.get(job.kind)?.wake();
  };
  const send = async () => {
    await new Promise(setImmediate);
    while (waiting.size > 0) {
      const jobs = [...waiting.values()];
      waiting.clear();
      await insert(jobs).catch((error: unknown) => {
        isPrepared = false;
        logger.warn(
          `${jobs.length} jobs could not be queued, workers will find them: ${errorLine(error)}`,
        );
      });
    }
    flushing = undefined;
  };
  return {
    add(job, place) {
      const name = jobName(job);
      waiting.set(name, { job, priority: waiting.get(name)?.priority ?? nextTurn(place) });
      flushing ??= outside.runInAsyncScope(send);
    },
    flush: async () => flushing,
    prepare,
    work(kind, taking) {
      const take = async () => {
        const boss = await opening.open();
        const jobs = await boss.fetch(nameOf(kind), { batchSize: taking.most });
        if (jobs.length === 0) return false;
        await taking.take(jobs.map(({ data }) => data));
        const ids = jobs.map(({ id }) => id);
        await boss.complete(nameOf(kind), ids);
        return true;
      };
      const failed = (error: unknown) =>
        logger.warn(`The queue of ${kind} could not be asked: ${errorLine(error)}`);
      takers.set(kind, createTaker(taking.pollIntervalMs, take, failed));
    },
    async stopWork() {
      const all = [...takers.values()];
      takers.clear();
      await Promise.all(all.map((taker) => taker.stop()));
    },
    async close() {
      await flushing;
      await opening.close();
    },
  };
}

/**
 * Polls, without pauses while there are jobs. Not `boss.work`: its failed statement ends the
 * process (pg-boss 10.4).
 */
function createTaker(
  pollIntervalMs: number,
  take: () => Promise<boolean>,
  onError: (error: unknown) => void,
) {
  let stopped = false;
  let wake = () => {};
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollIntervalMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const loop = (async () => {
    while (!stopped) {
      const took = await take().catch(onError);
      if (!took && !stopped) await pause();
    }
  })();
  return {
    wake: () => wake(),
    async stop() {
      stopped = true;
      wake();
      await loop;
    },
  };
}

function openOnce(db: Database, option: QueueOption, logger: Logger) {
  if (!("pgBoss" in option)) return { open: async () => option, close: async () => {} };
  let started: Promise<StartedBoss> | undefined;
  return {
    async open(): Promise<PgBossInstance> {
      started ??= startBoss(db, option.pgBoss, logger);
      try {
        return await started;
      } catch (error) {
        started = undefined;
        throw error;
      }
    },
    async close() {
      const boss = await started?.catch(() => undefined);
      await boss?.stop({ graceful: false });
    },
  };
}

type StartedBoss = PgBossInstance & { stop(how: { graceful: boolean }): Promise<void> };

const connectionOptions = ["connectionString", "host", "database", "user", "db"];

async function startBoss(
  db: Database,
  options: PgBossOptions,
  logger: Logger,
): Promise<StartedBoss> {
  const connects = connectionOptions.some((name) => options[name] !== undefined);
  if (db.isEmbedded && !connects) {
    throw new MemoryError(
      "INVALID_INPUT",
      "Queues need a PostgreSQL server, which other processes reach: with the embedded database leave out `jobs`.",
    );
  }
  const { default: PgBoss } = await import("pg-boss").catch((cause: unknown) => {
    const message = "Queues need a package that is not installed: npm install pg-boss@10";
    throw new MemoryError("PEER_MISSING", message, { cause });
  });
  const ours = {
    db: { executeSql: (text: string, values: unknown[]) => execute(db, text, values) },
  };
  const boss = new PgBoss({ schedule: false, ...(connects ? {} : ours), ...options });
  boss.on("error", (error) => logger.warn(`pg-boss: ${errorLine(error)}`));
  await boss.start();
  return boss as unknown as StartedBoss;
}

/** pg-boss's statements take milliseconds, creating its tables seconds. */
const queueTimeoutMs = 60_000;

/**
 * Keeps driver errors, whose text pg-boss checks for existing tables. Ends its failed transaction.
 */
function execute(db: Database, text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
  const statement = { text, values, query_timeout: queueTimeoutMs };
  return db.withClient(async (client) => {
    try {
      return await client.query(statement);
    } catch (error) {
      if (!isTimeout(error)) await client.query("rollback").catch(() => {});
      throw error;
    }
  });
}
