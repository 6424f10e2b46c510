import { randomUUID } from "node:crypto";
import pg from "pg";
import PgBoss from "pg-boss";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createMemory, type Memory } from "../../src/index.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { dropSchemas, useCells } from "../support/cells.js";
import { dueJobsConfig, instantAnswers } from "../support/due-jobs.js";
import { silentLogger } from "../support/silent-logger.js";
import { round } from "../support/spoken.js";
import { onServer } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

const on = useCells(2);
const server = inject("databaseUrl") ?? "";
const wait = { timeout: limitsMs.step, interval: 200 };

describe.runIf(onServer())("cells on a server", () => {
  const scopes = () => [0, 1].map((cell) => ({ tenantId: on.tenantIn(cell), userId: "ana" }));

  it("have their jobs done by workers, from queues of each", async () => {
    const queue = `${on.schema}_queue`;
    const boss = new PgBoss({ connectionString: server, schema: queue });
    boss.on("error", () => {});
    await boss.start();
    const model = new OfflineChatModel({ structured: instantAnswers });
    const config = { ...dueJobsConfig, jobs: { sweepIntervalMs: 500, pollIntervalMs: 100 } };
    const web = on.memory({ jobs: boss, model, config });
    const worker = await on.memory({ jobs: boss, model, config }).work();
    for (const scope of scopes()) {
      await web.remember({ scope, threadId: "queued", messages: round("I live in Lisbon") });
      await expect.poll(async () => (await web.memories.list({ scope })).length, wait).toBe(1);
    }
    expect(worker.status()).toMatchObject({ ready: true, failed: 0 });
    await worker.stop();
    await boss.stop({ graceful: false });
  });

  it("share one pool where they are in one database, which ends with the memory", async () => {
    const name = `cells ${randomUUID()}`;
    const url = new URL(server);
    url.searchParams.set("application_name", name);
    const memory = createMemory({ cells: 2, schema: on.schema, database: url.href, logger: silentLogger });
    await Promise.all(scopes().map((scope) => memory.memories.list({ scope })));
    const sessions = async () => {
      const { rows } = await on.pool.query(
        "select count(*)::int as n from pg_stat_activity where application_name = $1",
        [name],
      );
      return rows[0].n;
    };
    expect(await sessions()).toBeLessThanOrEqual(4);
    await memory.close();
    await expect.poll(sessions).toBe(0);
  });
});

describe.runIf(onServer())("cells that isolate tenants", () => {
  const id = randomUUID().slice(0, 8);
  const schema = `isolated_cells_${id}`;
  const roles = { owner: `cells_owner_${id}`, app: `cells_app_${id}` };
  const memories: Memory[] = [];
  const as = (role: keyof typeof roles): Memory => {
    const url = new URL(server);
    url.username = roles[role];
    const options = { cells: 2, schema, isolation: "rls", jobs: "inline", logger: silentLogger } as const;
    const memory = createMemory({ database: url.href, ...options });
    memories.push(memory);
    return memory;
  };
  let pool: pg.Pool;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server });
    for (const role of Object.values(roles)) await pool.query(`create role ${role} login`);
    await pool.query(`grant create on database ${new URL(server).pathname.slice(1)} to ${roles.owner}`);
    await as("owner").setup();
    for (const cell of ["000", "001"]) {
      await pool.query(`grant usage on schema ${schema}_c${cell} to ${roles.app}`);
      await pool.query(
        `grant select, insert, update, delete on all tables in schema ${schema}_c${cell} to ${roles.app}`,
      );
    }
  });
  afterAll(async () => {
    for (const memory of memories) await memory.close();
    await dropSchemas(pool, schema);
    for (const role of Object.values(roles)) await pool.query(`drop owned by ${role}; drop role ${role}`);
    await pool.end();
  });

  it("keep tenants of one cell apart, let nobody but the owner go over all, and are frozen by the owner only", async () => {
    const memory = as("app");
    const [one, two] = [0, 1].map((n) => ({ tenantId: on.tenantIn(1, n), userId: "ana" })) as [
      object,
      object,
    ];
    await memory.memories.add({ text: "Has a secret." }, { scope: one });
    expect(await memory.memories.list({ scope: one })).toHaveLength(1);
    expect(await memory.memories.list({ scope: two })).toEqual([]);
    await expect(memory.users.list()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await expect(memory.cells.freeze(1)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    const owner = as("owner");
    expect(await owner.users.list()).toHaveLength(1);
    await owner.cells.freeze(1);
    await expect(memory.memories.list({ scope: one })).rejects.toMatchObject({ code: "CELL_MOVING" });
    await owner.cells.thaw(1);
    expect(await memory.memories.list({ scope: one })).toHaveLength(1);
  });
});
