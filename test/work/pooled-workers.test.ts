import { HumanMessage } from "@langchain/core/messages";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { dueJobsConfig, instantAnswers } from "../support/due-jobs.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { recordingLogger } from "../support/recording-logger.js";
import { round } from "../support/spoken.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { createTestMemory, type TestConfig } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";

const runs = onServer() && hasPgbouncer();
if (onServer() && !runs) console.log("There is no pgbouncer here: tests with it are skipped.");

const db = useTestDatabase();
const isolated = useIsolatedDatabase(db);
const queueSchemas: string[] = [];
const memories: Memory[] = [];
let bouncer: Pgbouncer;

beforeAll(async () => {
  if (!runs) return;
  const owner = new URL(isolated.connectionString("owner")).username;
  bouncer = await startPgbouncer(inject("databaseUrl") ?? "", { [owner]: "" });
  await db.pool.query(
    `grant create on database "${(new URL(bouncer.url()).pathname).slice(1)}" to ${owner}`,
  );
});
afterAll(async () => {
  for (const memory of memories) await memory.close();
  if (!runs) return;
  for (const schema of queueSchemas)
    await db.pool.query(`drop schema if exists "${schema}" cascade`);
  await bouncer?.stop();
});

const config: TestConfig = {
  ...dueJobsConfig,
  preset: "every-round",
  memories: { extract: true, episodes: false },
  summaries: { everyMessages: 2 },
  jobs: { sweepIntervalMs: 1_000, pollIntervalMs: 100 },
  database: { prepare: false },
};

/** A model that counts its calls. */
function counting() {
  const asked = { facts: 0, summaries: 0 };
  const model = new OfflineChatModel({
    structured: {
      fact_extraction: () => {
        asked.facts++;
        return instantAnswers.fact_extraction();
      },
      conversation_summary: () => {
        asked.summaries++;
        return { reasoning: "", summary: "They spoke of Lisbon." };
      },
    },
  });
  return { asked, model };
}

const times = (count: number) => Array.from({ length: count }, (_, n) => n);

describe.skipIf(!runs)("queue workers through PgBouncer (server only)", () => {
  it.for([
    { name: "pg-boss with a pool of its own", isolation: undefined, ownPool: true },
    { name: "tenants isolated", isolation: "rls", ownPool: false },
  ] as const)(
    "Queue workers do due work once and lose none: $name",
    async ({ name, isolation, ownPool }) => {
      const place = isolation ? isolated : db;
      const url = bouncer.url(isolation && new URL(isolated.connectionString("owner")).username);
      const queue = `${place.schema}_${queueSchemas.length}`;
      queueSchemas.push(queue);
      const { asked, model } = counting();
      const logger = recordingLogger();
      const open = () => {
        const memory = createTestMemory({
          database: url,
          schema: place.schema,
          model,
          logger,
          config,
          jobs: { pgBoss: { schema: queue, ...(ownPool && { connectionString: url, max: 3 }) } },
          ...(isolation && { isolation }),
        });
        memories.push(memory);
        return memory;
      };

      const web = open();
      const threads = times(16).map((n) => ({
        scope: { tenantId: `tenant ${n % 3}`, userId: `${name} ${n}` },
        threadId: `${name} ${n}`,
      }));
      const says = [
        new HumanMessage("My name is Ana and I live in Lisbon."),
        ...times(5).flatMap((n) => round(`${n}`)),
      ];
      const record = (some: typeof threads) =>
        Promise.all(some.map((thread) => web.remember({ ...thread, messages: says })));
      // Half of it is queued before there are workers, half while they work.
      await record(threads.slice(0, 8));
      await web.idle();
      const workers = await Promise.all([open(), open()].map((memory) => memory.work()));
      await record(threads.slice(8));

      await expect.poll(() => openJobs(place), { timeout: limitsMs.step, interval: 200 }).toBe(0);
      for (const worker of workers) {
        expect(worker.status()).toMatchObject({ ready: true, failed: 0 });
        await worker.stop();
      }
      expect(asked).toEqual({ facts: threads.length, summaries: threads.length });
      for (const thread of threads) {
        expect(await web.memories.list({ scope: thread.scope })).toMatchObject([
          { text: "Lives in Lisbon.", seenCount: 1 },
        ]);
        expect(await web.summaries.list(thread)).toMatchObject([{ status: "completed" }]);
      }
      // Every job was queued.
      expect(logger.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
    },
  );
});

/** Work that is due, or that a worker has. */
async function openJobs({ schema }: { readonly schema: string }): Promise<number> {
  const { rows } = await db.pool.query(
    `select (select count(*) from "${schema}".work where retry_at is not null or lease_until is not null)
       + (select count(*) from "${schema}".summary where status <> 'completed') as open`,
  );
  return Number(rows[0].open);
}
