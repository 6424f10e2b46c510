import { PgBoss } from "pg-boss";
import PgBoss10 from "pg-boss-10";
import { afterAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { createGate, OfflineChatModel } from "../../src/testing/index.js";
import type { PgBossInstance } from "../../src/work/wake-ups.js";
import { dueJobsConfig, instantAnswers } from "../support/due-jobs.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";

const db = useTestDatabase();
const wait = { timeout: limitsMs.step, interval: 50 };
const queueSchemas: string[] = [];
const bosses: { stop(how: { graceful: boolean }): Promise<void> }[] = [];

afterAll(async () => {
  for (const boss of bosses) await boss.stop({ graceful: false });
  for (const schema of queueSchemas)
    await db.pool.query(`drop schema if exists "${schema}" cascade`);
});

/** A started pg-boss on the test database, and its schema. */
async function startBoss(version: 10 | 12): Promise<{ boss: PgBossInstance; queue: string }> {
  const queue = `${db.schema}_boss_${queueSchemas.length}`;
  queueSchemas.push(queue);
  const executeSql = (text: string, values?: unknown[]) => db.pool.query(text, values);
  const options = { db: { executeSql }, schema: queue, schedule: false };
  const boss = version === 10 ? new PgBoss10(options) : new PgBoss(options);
  await boss.start();
  bosses.push(boss);
  return { boss, queue };
}

const onlyFacts = { kinds: ["facts"] } as const;
/** Nothing is found by looking: what is done was queued, and woke its worker. */
const onlyQueued = { sweepIntervalMs: 3_600_000, pollIntervalMs: 3_600_000 };
const config: TestConfig = {
  ...dueJobsConfig,
  memories: { extract: true, episodes: false, extractAfterMessages: 1 },
  jobs: onlyQueued,
};
const model = () => new OfflineChatModel({ structured: instantAnswers });

let users = 0;
const conversation = () => {
  const userId = `user ${users++}`;
  return { scope: { userId }, threadId: `thread of ${userId}` };
};
const say = (memory: Memory, of: ReturnType<typeof conversation>) =>
  memory.remember({ ...of, messages: [{ role: "user", content: "I live in Lisbon." }] });
const textsOf = async (memory: Memory, { scope }: ReturnType<typeof conversation>) =>
  (await memory.memories.list({ scope })).map(({ text, seenCount }) => [text, seenCount]);
const known = [["Lives in Lisbon.", 1]];

describe.each([10, 12] as const)("A started pg-boss %i", (version) => {
  it("Wakes the worker of its process for a job, and for a second one of the same thread", async () => {
    const { boss } = await startBoss(version);
    const logger = recordingLogger();
    const memory = db.memory({ model: model(), jobs: boss, config, logger });
    const worker = await memory.work();
    const [one, other] = [conversation(), conversation()];
    await say(memory, one);
    await expect.poll(() => textsOf(memory, one), wait).toEqual(known);
    await say(memory, one);
    await say(memory, other);
    await expect.poll(() => textsOf(memory, other), wait).toEqual(known);
    await expect.poll(() => worker.status().kinds.facts?.done, wait).toBe(3);
    expect(worker.status()).toMatchObject({ ready: true, failed: 0 });
    await worker.stop();
    expect(logger.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  });

  it("Gets due work that its queue lost, which says no more than its kind", async () => {
    const { boss, queue } = await startBoss(version);
    const of = conversation();
    const web = db.memory({ jobs: boss, config });
    await say(web, of);
    await web.idle();
    const { rows } = await db.pool.query(`select name, data from "${queue}".job`);
    const name = `${db.schema}-facts`;
    expect(rows).toEqual([{ name, data: { kind: "facts" } }]);

    await db.pool.query(`delete from "${queue}".job`);
    const worker = await db.memory({ model: model(), jobs: boss, config }).work();
    await expect.poll(() => textsOf(web, of), wait).toEqual(known);
    await worker.stop();
  });

  it("Wakes the worker for a job that is queued while the worker asks for one", async () => {
    const { boss } = await startBoss(version);
    const asking = createGate();
    const fetch = boss.fetch.bind(boss);
    const fetchSlowly: PgBossInstance["fetch"] = async (...which) => {
      const found = await fetch(...which);
      await asking.wait();
      return found;
    };
    Object.assign(boss, { fetch: fetchSlowly });
    const memory = db.memory({ model: model(), jobs: boss, config });
    const worker = await memory.work(onlyFacts);
    await expect.poll(() => asking.waiting, wait).toBe(1);
    const of = conversation();
    await say(memory, of);
    await memory.idle();
    asking.open();
    await expect.poll(() => textsOf(memory, of), wait).toEqual(known);
    await worker.stop();
  });
});
