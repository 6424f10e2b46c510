import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import type { JobWorker } from "../../src/work/queue-runner.js";
import { httpClients } from "../http/http-client.js";
import { type AppAddress, newTalk } from "../notes/note-model.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import type { TestConfig, TestOptions } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";
import { optionsOf, type WorkCase, workCases } from "../support/work-cases.js";

const db = useTestDatabase();
const isolated = useIsolatedDatabase(db);

interface Place {
  readonly schema: string;
  /** The memory that gives the work up. */
  open(options: TestOptions): Memory;
  /** The memory that retries it. */
  again(options: TestOptions): Memory;
}

/** A summary that failed is not given up: the next turn starts another. */
const cases = workCases.filter(({ kind }) => kind !== "summaries");

const place: Place = {
  get schema() {
    return db.schema;
  },
  open: db.memory,
  again: db.memory,
};

/** Starts the work of `each`, which is given up. */
async function giveUp(
  each: WorkCase,
  memory: Memory,
  talk: AppAddress,
  { schema }: Place,
): Promise<void> {
  if (each.kind !== "compaction") return void (await each.begin(memory, talk));
  // Without a model's answer compaction removes the oldest note: only a database error fails it.
  await db.pool.query(`
    create function "${schema}".refuse() returns trigger language plpgsql as
      $$ begin raise exception 'out of order'; end $$;
    create trigger refuse before update on "${schema}".memory for each row
      when (old.kind = 'note' and new.state <> old.state) execute function "${schema}".refuse()`);
  try {
    await each.begin(memory, talk);
  } finally {
    await db.pool.query(`drop function "${schema}".refuse cascade`);
  }
}

/** Options with which `each` is given up while `isBroken`. */
function brittle(each: WorkCase, isBroken: () => boolean): TestOptions {
  const { config, ...options } = optionsOf(each, (...asked) =>
    isBroken() ? { structured: {} } : each.reply(...asked),
  );
  const upkeep = { maxAttempts: 1, maxFailures: 1, retryDelayMs: 0 };
  return { ...options, config: { ...(config as TestConfig), upkeep } };
}

/** Gives work up, retries it by `retry`, and checks its effects. */
async function runs(
  each: WorkCase,
  place: Place,
  retry: (memory: Memory, id: string, tenantId: string) => Promise<unknown>,
): Promise<void> {
  const { kind, done, effects } = each;
  const tenantId = `tenant ${randomUUID()}`;
  const talk = newTalk(randomUUID(), tenantId);
  let broken = kind !== "compaction";
  const options = brittle(each, () => broken);
  const memory = place.open(options);
  await giveUp(each, memory, talk, place);
  const [job, ...others] = await memory.jobs.list({ tenantId });
  expect(others).toEqual([]);
  const nobodys = { worker: null, since: null, leaseUntil: null };
  expect(job).toMatchObject({ kind, state: "failed", attempts: null, dueAt: null, ...nobodys });
  expect(await effects(memory, talk)).not.toEqual(done);

  broken = false;
  const again = place.again(options);
  const id = job?.id ?? "";
  await expect(again.jobs.retry({ id, tenantId: "another" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await retry(again, id, tenantId);
  expect(await effects(memory, talk)).toEqual(done);
  expect(await memory.jobs.list({ tenantId })).toEqual([]);
  await expect(again.jobs.retry({ id, tenantId })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await memory.upkeep();
  expect(await effects(memory, talk)).toEqual(done);
}

const byId = async (memory: Memory, id: string, tenantId: string) =>
  expect(await memory.jobs.retry({ id, tenantId })).toMatchObject({ retried: 1 });

describe("given-up work that is retried", () => {
  it.for(cases)("Work of $kind that was given up is done when it is retried by its id", (each) =>
    runs(each, place, byId),
  );
  it.for(cases)("Work of $kind that was given up is done when all of its kind is retried", (each) =>
    runs(each, place, async (memory, _, tenantId) =>
      expect(await memory.jobs.retry({ kind: each.kind, tenantId })).toMatchObject({ retried: 1 }),
    ),
  );
  it.for(cases)(
    "Work of $kind that was given up is done when an operator, and nobody else, retries it over HTTP",
    (each) =>
      runs(each, place, async (memory, id, tenantId) => {
        const api = httpClients(memory, {
          user: { role: "user", scope: { tenantId, userId: "ana" } },
          neighbour: { role: "operator", tenantId: "another" },
          operator: { role: "operator", tenantId },
        });
        expect((await api.user("POST", `/jobs/${id}/retry`)).status).toBe(404);
        expect((await api.neighbour("POST", `/jobs/${id}/retry`)).status).toBe(404);
        expect((await api.operator("GET", "/jobs?state=failed")).body.jobs).toMatchObject([
          { id, kind: each.kind },
        ]);
        expect(await api.operator("POST", `/jobs/${id}/retry`)).toMatchObject({
          status: 200,
          body: { retried: 1 },
        });
      }),
  );
});

describe("given-up work before later work of its thread", () => {
  it.each(cases.filter(({ kind }) => kind === "episodes" || kind === "notes"))(
    "Work of $kind that was given up cannot be retried once later work of its thread is done",
    async (each) => {
      const talk = newTalk();
      let broken = true;
      const memory = db.memory(brittle(each, () => broken));
      await giveUp(each, memory, talk, place);
      const [letter] = await memory.jobs.list({ kind: each.kind, state: "failed" });
      broken = false;
      await giveUp(each, memory, talk, place);
      const later = await each.effects(memory, talk);
      expect(later).toHaveLength(1);
      await expect(memory.jobs.retry({ id: letter?.id ?? "" })).rejects.toMatchObject({
        code: "WRONG_STATE",
      });
      expect(await each.effects(memory, talk)).toEqual(later);
      expect(await memory.jobs.list({ kind: each.kind })).toEqual([letter]);
    },
  );
});

describe.runIf(onServer())("given-up work and queues (server only)", () => {
  const queue = `queue_${randomUUID().slice(0, 8)}`;
  afterAll(() => db.pool.query(`drop schema if exists "${queue}" cascade`));

  it.for(cases)(
    "Work of $kind that was given up is done by workers when a process that only queues retries it",
    async (each) => {
      let worker: JobWorker | undefined;
      let atWork = async () => {};
      const queued: Place = {
        schema: db.schema,
        open: db.memory,
        again({ model, config, ...options }) {
          const jobs = { pgBoss: { schema: queue } };
          const working = {
            ...(config as TestConfig),
            jobs: { sweepIntervalMs: 60_000, pollIntervalMs: 100 },
          };
          const web = db.memory({ ...options, jobs, config: working });
          atWork = async () => {
            worker = await db
              .memory({ ...options, model, jobs, config: working } as TestOptions)
              .work();
          };
          return web;
        },
      };
      await runs(each, queued, async (web, id, tenantId) => {
        await atWork();
        await byId(web, id, tenantId);
        await expect
          .poll(() => web.jobs.list({ tenantId }), { timeout: limitsMs.step, interval: 100 })
          .toEqual([]);
      });
      expect(worker?.status()).toMatchObject({ failed: 0 });
      await worker?.stop();
    },
  );
});

describe.runIf(onServer())("given-up work under row-level security (server only)", () => {
  const placeOf = (role: "owner" | "app"): Place => ({
    schema: isolated.schema,
    open: (options) => isolated.memory({ role: "owner", ...options }),
    again: (options) => isolated.memory({ role, ...options }),
  });
  it.for(cases)(
    "Work of $kind that was given up is done when the role that sees all tenants retries it",
    (each) => runs(each, placeOf("owner"), byId),
  );
  it.for(cases)(
    "Work of $kind that was given up is done when a role that sees only its tenant retries it",
    (each) => runs(each, placeOf("app"), byId),
  );
});
