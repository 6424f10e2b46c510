import PgBoss10 from "pg-boss-10";
import { afterAll, describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import type { Memory } from "../../src/memory.js";
import { retryOn } from "../../src/postgres/retry.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useChildScripts } from "../support/child-scripts.js";
import { dueJobsConfig, instantAnswers, makeDueJobs, readEffects } from "../support/due-jobs.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { recordingLogger } from "../support/recording-logger.js";
import { silentLogger } from "../support/silent-logger.js";
import { round } from "../support/spoken.js";
import { facts, taskModel } from "../support/task-model.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import type { TestConfig, TestOptions } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";

const db = useTestDatabase();
const server = inject("databaseUrl") ?? "";
const start = useChildScripts();
const queueSchemas: string[] = [];
const wait = { timeout: limitsMs.step, interval: 200 };

function queueSchemaOf(name: string): string {
  const schema = `${db.schema}_${name}`;
  queueSchemas.push(schema);
  return schema;
}

afterAll(async () => {
  for (const schema of queueSchemas)
    await db.pool.query(`drop schema if exists "${schema}" cascade`);
});

/** Runs a statement on tables in use; retries it after a deadlock. */
const whileInUse = (text: string) =>
  retryOn(["40P01"], () => db.pool.query(text), { most: 20, stepMs: 20, busy: "in use" });

describe.runIf(!onServer())("queues without a server", () => {
  it("Queues are refused on the embedded database", async () => {
    const memory = db.memory({ jobs: { pgBoss: {} } });
    const message = expect.stringContaining("need a PostgreSQL server");
    await expect(memory.work()).rejects.toMatchObject({ code: "INVALID_INPUT", message });
    await expect(db.memory().work()).rejects.toMatchObject({
      message: expect.stringContaining("no queues"),
    });
    expect(() => createMemory({ jobs: { boss: {} } as never })).toThrow("a started pg-boss");
  });
});

describe.runIf(onServer())("queued jobs", () => {
  const quick: TestConfig = {
    ...dueJobsConfig,
    jobs: { sweepIntervalMs: 500, pollIntervalMs: 100 },
  };
  const memoryWith = (options: TestOptions): Memory =>
    db.memory({
      model: new OfflineChatModel({ structured: instantAnswers }),
      config: quick,
      ...options,
    });

  it("A job needs no model to be queued, and a worker without one skips kinds that need it", async () => {
    const queue = queueSchemaOf("modelless");
    const jobs = { pgBoss: { schema: queue } };
    const web = db.memory({ config: quick, jobs });
    const who = { userId: "ben" };
    await web.remember({ scope: who, threadId: "modelless", messages: round("I live in Lisbon") });
    await web.idle();
    const mechanical = await db.memory({ config: quick, jobs }).work();
    await expect.poll(() => mechanical.status().done, wait).toBeGreaterThan(0);
    expect(Object.keys(mechanical.status().kinds)).not.toContain("facts");
    await mechanical.stop();
    expect(await web.memories.list({ scope: who })).toEqual([]);
    const other = memoryWith({ jobs });
    const worker = await other.work();
    await expect.poll(async () => (await web.memories.list({ scope: who })).length, wait).toBe(1);
    await expect(other.work()).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await worker.stop();
  });

  it("Queued jobs are not put in the tables of pg-boss 10 by pg-boss 12, and no worker begins", async () => {
    const queue = queueSchemaOf("older");
    const older = new PgBoss10({ connectionString: server, schema: queue });
    await older.start();
    await older.stop({ graceful: false });
    const logger = recordingLogger();
    const memory = memoryWith({ jobs: { pgBoss: { schema: queue } }, logger });
    const message = `The schema "${queue}" has the tables of pg-boss 10, and pg-boss 12 is installed: name another schema`;
    await expect(memory.work()).rejects.toMatchObject({
      code: "SCHEMA_DIFFERS",
      message: expect.stringContaining(message),
    });
    const turn = {
      scope: { userId: "eve" },
      threadId: "older",
      messages: round("I live in Lisbon"),
    };
    await memory.remember(turn);
    await memory.idle();
    const warnings = logger.lines.filter((line) => line.startsWith("warn"));
    expect(warnings).toEqual([expect.stringContaining(message)]);
  });

  it("A tenant's queued job is among the first after 300 of another, queued at once or found", async () => {
    for (const found of [false, true]) {
      const queue = queueSchemaOf(`fair_${found}`);
      const jobs = { pgBoss: { schema: queue } };
      const order: string[] = [];
      const model = taskModel({
        fact_extraction: (prompt) => {
          order.push(/dog of (\w+)/.exec(prompt)?.[1] ?? "");
          return facts();
        },
      });
      const few = { ...quick, jobs: { ...quick.jobs, concurrency: 1 } };
      const memories = { extract: true, episodes: false, extractAfterMessages: 1 };
      const web = db.memory({ jobs, config: { ...few, memories } });
      const remember = (tenantId: string, thread: number) => {
        const messages = [{ role: "user", content: `I own a dog of ${tenantId}.` }];
        return web.remember({
          scope: { tenantId, userId: "u" },
          threadId: `${found} ${tenantId} ${thread}`,
          messages,
        });
      };
      for (let thread = 0; thread < 300; thread++) await remember("flood", thread);
      await remember("small", 0);
      await web.idle();
      if (found) await db.pool.query(`truncate "${queue}".job`);
      const worker = await memoryWith({ model, jobs, config: { ...few, memories } }).work({
        kinds: ["facts"],
      });
      await expect.poll(() => order.includes("small"), wait).toBe(true);
      await worker.stop();
      expect(order.indexOf("small")).toBeLessThan(8);
    }
  });

  it("Queued jobs are not lost when the schema of pg-boss is emptied or dropped", async () => {
    const queue = queueSchemaOf("emptied");
    const place = { pool: db.pool, schema: db.schema };
    await makeDueJobs(place, 60);
    const workers = [1, 2].map(() => start("queue-worker", [server, db.schema, queue, "", "20"]));
    await workers[0]?.line(/^done [1-9]/);
    await whileInUse(`truncate "${queue}".job, "${queue}".queue cascade`);
    await workers[1]?.line(/^done [1-9]/);
    await whileInUse(`drop schema "${queue}" cascade`);
    const openJobs = async () => {
      const { rows } = await db.pool.query(
        `select count(*)::int as open from "${db.schema}".work k join "${db.schema}".thread t on t.id = k.thread_ref
         where t.user_id like 'user %' and (k.retry_at is not null or k.lease_until is not null)`,
      );
      return rows[0].open;
    };
    await expect.poll(openJobs, wait).toBe(0);
    const { rows } = await db.pool.query(
      `select m.kind, count(*)::int as count, count(distinct m.owner_ref)::int as owners
       from "${db.schema}".memory m join "${db.schema}".owner o on o.id = m.owner_ref
       where o.user_id like 'user %' group by m.kind order by m.kind`,
    );
    expect(rows).toEqual(["episode", "fact"].map((kind) => ({ kind, count: 60, owners: 60 })));
  });
});

describe.runIf(onServer())("three workers", () => {
  const isolated = useIsolatedDatabase(db);

  it.for([
    ["", 300],
    ["rls", 100],
  ] as const)(
    "Three workers, one killed and one stopped, do each job once; isolation %j, %i threads",
    { timeout: limitsMs.long },
    async ([isolation, threads]) => {
      const queue = queueSchemaOf(`three_${isolation}`);
      const place =
        isolation === "rls" ? isolated : { pool: db.pool, schema: `${db.schema}_three` };
      const url = isolation === "rls" ? isolated.connectionString("owner") : server;
      if (isolation === "rls") {
        const { pathname } = new URL(server);
        const owner = new URL(url).username;
        await db.pool.query(`grant create on database "${pathname.slice(1)}" to ${owner}`);
      } else {
        queueSchemas.push(place.schema);
        const memory = createMemory({
          database: server,
          schema: place.schema,
          logger: silentLogger,
        });
        await memory.setup();
        await memory.close();
      }
      await makeDueJobs(place, threads);
      const workers = [1, 2, 3].map(() =>
        start("queue-worker", [url, place.schema, queue, isolation, "10", "3000"]),
      );
      const [killed, ended, lasting] = workers;
      await killed?.line(/^done [1-9]/);
      await killed?.kill();
      await ended?.line(/^done [1-9]\d/);
      process.kill(ended?.pid ?? 0, "SIGTERM");
      expect(await ended?.exitCode).toBe(0);
      expect(ended?.lines.at(-1)).toMatch(/^stopped \d+$/);
      await expect
        .poll(async () => (await readEffects(place)).open, {
          timeout: limitsMs.test,
          interval: 1_000,
        })
        .toBe(0);
      const effects = { open: 0, facts: threads, episodes: threads, lost: 0, duplicates: 0 };
      expect(await readEffects(place)).toEqual(effects);
      process.kill(lasting?.pid ?? 0, "SIGTERM");
      expect(await lasting?.exitCode).toBe(0);
    },
  );

  it("Workers accept only the role that sees all tenants", async () => {
    const memory = isolated.memory({ jobs: { pgBoss: { schema: "never_made" } } });
    await expect(memory.work()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });
});
