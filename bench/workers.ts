import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import PgBoss from "pg-boss";
import { createMemory } from "../src/index.js";
import { queueOptions } from "../src/jobs/job-queue.js";
import { OfflineChatModel } from "../src/testing/index.js";
import { type BenchDatabase, openBenchDatabase, vacuumSchema } from "./bench-database.js";
import { printEnvironment, printResult, printTable } from "./report.js";
import { insertDueSummaries, readSummaries } from "./workers/due-summaries.js";

/**
 * What a worker does: pg-boss's own job that does nothing, taken in batches as large as our worker's, and each by itself; our
 * worker with a job that does nothing; summaries with an instant model.
 */
const modes = ["no-op", "no-op one by one", "queue", "summaries"] as const;
type Mode = (typeof modes)[number];

const [jobs, rounds] = process.argv.includes("--small") ? [400, 1] : [2_000, 3];
const concurrency = 4;
const workerCounts = [1, 2, 4] as const;

interface Run {
  readonly seconds: number;
  readonly statements: number;
  readonly duplicates: number;
  readonly lost: number;
}

/**
 * Times `jobs` jobs, from when they may be taken until pg-boss has all of them completed, by workers that are at work
 * already.
 */
async function runWorkers(database: BenchDatabase, mode: Mode, workers: number, round: number): Promise<Run> {
  const server = database.server ?? "";
  const schema = `${database.schema}_${mode.replace(/\W/g, "")}_${workers}_${round}`;
  const bossSchema = `${database.schema}_boss`;
  const memory = createMemory({ database: server, schema, model: new OfflineChatModel() });
  await memory.setup();
  await memory.close();
  const boss = new PgBoss({ connectionString: server, schema: bossSchema, supervise: false });
  boss.on("error", console.error);
  await boss.start();
  const name = `${schema}-summaries`;
  await boss.createQueue(name, { name, ...queueOptions } as PgBoss.Queue);
  const children = await Promise.all(
    Array.from({ length: workers }, () => startWorker([mode, server, schema, bossSchema, `${concurrency}`])),
  );
  const refs =
    mode === "summaries"
      ? await insertDueSummaries({ pool: database.pool, schema }, jobs)
      : Array.from({ length: jobs }, (_, index) => index);
  await vacuumSchema(database.pool, schema);
  const later = new Date(Date.now() + 3_600_000);
  await boss.insert(
    refs.map((ref) => ({
      ...{ name, data: { work: "summarize", ref }, singletonKey: `summarize ${ref}`, startAfter: later },
    })),
  );
  await vacuumSchema(database.pool, bossSchema);
  await database.pool.query(`update "${bossSchema}".job set start_after = now() where name = $1`, [name]);
  const startedAt = performance.now();
  await untilCompleted(database, bossSchema, name);
  const seconds = (performance.now() - startedAt) / 1_000;
  const ended = await Promise.all(children.map(stopWorker));
  await boss.stop({ graceful: false });
  const statements = ended.reduce((sum, each) => sum + each, 0);
  const effects =
    mode === "summaries" ? await readSummaries({ pool: database.pool, schema }) : { duplicates: 0, lost: 0 };
  await database.pool.query(`drop schema "${schema}" cascade`);
  return { seconds, statements, ...effects };
}

async function startWorker(args: readonly string[]): Promise<ChildProcess> {
  const script = new URL("workers/worker-process.ts", import.meta.url);
  const child = fork(script, args, { execArgv: ["--import", "tsx"] });
  await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("A worker ended before it was at work."))),
  ]);
  return child;
}

async function stopWorker(child: ChildProcess): Promise<number> {
  const told = once(child, "message");
  const ended = once(child, "exit");
  child.send("stop");
  const [[{ statements }]] = await Promise.all([told, ended]);
  return statements;
}

async function untilCompleted({ pool }: BenchDatabase, bossSchema: string, name: string): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      `select exists (select from "${bossSchema}".job where name = $1 and state < 'completed') as open`,
      [name],
    );
    if (!rows[0].open) return;
    await pause(10);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, two) => one - two)[Math.floor(values.length / 2)] ?? 0;
}

const database = await openBenchDatabase();
try {
  if (database.server === null) throw new Error("Workers need a server: set DATABASE_URL.");
  printEnvironment(database);
  console.log(`${jobs} jobs, ${concurrency} at the same time in each worker, median of ${rounds}`);
  const runs = Object.fromEntries(modes.map((mode) => [mode, new Map()])) as Record<Mode, Map<number, Run[]>>;
  for (let round = 0; round < rounds; round++) {
    for (const workers of workerCounts) {
      for (const mode of modes) {
        const run = await runWorkers(database, mode, workers, round);
        console.log(`${mode}, ${workers} workers: ${run.seconds.toFixed(2)} s, ${run.statements} statements`);
        runs[mode].set(workers, [...(runs[mode].get(workers) ?? []), run]);
      }
    }
  }
  const secondsOf = (mode: Mode, workers: number) =>
    median((runs[mode].get(workers) ?? []).map(({ seconds }) => seconds));
  const perJob = (mode: Mode, workers: number) =>
    median((runs[mode].get(workers) ?? []).map(({ statements }) => statements / jobs));
  printTable(
    "Jobs a second",
    modes.map((mode) => ({
      job: mode,
      ...Object.fromEntries(workerCounts.map((count) => [`${count} workers`, jobs / secondsOf(mode, count)])),
      "statements a job": perJob(mode, 1),
    })),
  );
  const ratios = (mode: Mode, to: Mode = "no-op") =>
    Object.fromEntries(workerCounts.map((count) => [count, secondsOf(mode, count) / secondsOf(to, count)]));
  const all = [...runs.summaries.values()].flat();
  printResult({
    jobsPerSecond: Object.fromEntries(
      workerCounts.map((count) => [count, jobs / secondsOf("summaries", count)]),
    ),
    noOpPerSecond: Object.fromEntries(workerCounts.map((count) => [count, jobs / secondsOf("no-op", count)])),
    // A summary is committed by itself, and so is a job of pg-boss that is taken by itself, as its `work` does by default.
    overheadRatio: ratios("summaries", "no-op one by one")[1],
    overheadRatios: ratios("summaries", "no-op one by one"),
    overheadRatiosOfBatches: ratios("summaries"),
    queueOverheadRatios: ratios("queue"),
    statementsPerJob: perJob("summaries", 1),
    duplicates: all.reduce((sum, { duplicates }) => sum + duplicates, 0),
    lost: all.reduce((sum, { lost }) => sum + lost, 0),
  });
} finally {
  await database.close();
}
