/**
 * One worker process of `npm run bench:workers`, until it is told to stop. Sends what its statements were at its end.
 *
 * argv: what it does ("no-op": pg-boss alone; "no-op one by one": without batches; "queue": a worker whose jobs do nothing; "summaries": `memory.work()`),
 * connection string, schema of the tables, schema of pg-boss, jobs at the same time.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import PgBoss from "pg-boss";
import { createMemory } from "../../src/index.js";
import { createJobQueue } from "../../src/jobs/job-queue.js";
import { takenPerRunning } from "../../src/jobs/queue-line.js";
import { createQueueWorker } from "../../src/jobs/queue-worker.js";
import { createDatabase } from "../../src/postgres/database.js";
import { OfflineChatModel } from "../../src/testing/index.js";

const [mode = "", database = "", schema = "", bossSchema = "", jobs = "4"] = process.argv.slice(2);
const concurrency = Number(jobs);
/** How often each contestant asks an empty queue. */
const pollIntervalMs = 50;
const silent = { debug() {}, info() {}, warn: console.error, error: console.error };

const statements = { count: 0 };
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
  statements.count++;
  return (query as (...given: unknown[]) => unknown).apply(this, args);
} as typeof query;

/** pg-boss alone: takes jobs and completes them, in so many loops beside each other. */
async function beginNoOp(loops: number, batchSize: number): Promise<() => Promise<void>> {
  const boss = new PgBoss({
    connectionString: database,
    schema: bossSchema,
    supervise: false,
    schedule: false,
  });
  boss.on("error", console.error);
  await boss.start();
  let stopped = false;
  const loop = async () => {
    const name = `${schema}-summaries`;
    while (!stopped) {
      const found = await boss.fetch(name, { batchSize });
      if (found.length === 0) await pause(pollIntervalMs);
      else
        await boss.complete(
          name,
          found.map(({ id }) => id),
        );
    }
  };
  const looping = Promise.all(Array.from({ length: loops }, loop));
  return async () => {
    stopped = true;
    await looping;
    await boss.stop({ graceful: false });
  };
}

/** Our worker, whose jobs do nothing. */
async function beginQueue(): Promise<() => Promise<void>> {
  const pool = new pg.Pool({ connectionString: database });
  const db = createDatabase(pool, { schemaName: schema }, () => pool.end());
  const queue = createJobQueue(db, { pgBoss: { schema: bossSchema, supervise: false } }, silent);
  await queue.prepare();
  const worker = createQueueWorker({
    ...{ queue, logger: silent, pollIntervalMs, sweepIntervalMs: 60_000, kinds: ["summaries"] },
    concurrencyOf: () => concurrency,
    workers: [
      { works: ["summarize"], due: async () => [], at: () => ({ name: "nothing", run: async () => {} }) },
    ],
  });
  worker.begin();
  return async () => {
    await worker.stop();
    await queue.close();
    await db.close();
  };
}

async function beginSummaries(): Promise<() => Promise<void>> {
  const memory = createMemory({
    ...{ database, schema, model: new OfflineChatModel(), logger: silent },
    jobs: { pgBoss: { schema: bossSchema, supervise: false } },
    config: { jobs: { concurrency, pollIntervalMs, sweepIntervalMs: 60_000 } },
  });
  const worker = await memory.work({ kinds: ["summaries"] });
  return async () => {
    await worker.stop();
    await memory.close();
  };
}

process.once("disconnect", () => process.exit());
const begin = {
  "no-op": () => beginNoOp(1, concurrency * takenPerRunning),
  "no-op one by one": () => beginNoOp(concurrency, 1),
  queue: beginQueue,
  summaries: beginSummaries,
}[mode];
if (!begin) throw new Error(`Nothing is called "${mode}".`);
const stop = await begin();
await pause(300);
const before = statements.count;
process.send?.({ ready: true });
process.once("message", async () => {
  const made = statements.count - before;
  await stop();
  process.send?.({ statements: made }, () => process.disconnect());
});
