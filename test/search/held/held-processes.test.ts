import { randomUUID } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { createMemory } from "../../../src/index.js";
import {
  createHeldReport,
  listHeldProcesses,
  sweepHeldProcesses,
} from "../../../src/search/held/held-processes.js";
import { useChildScripts } from "../../support/child-scripts.js";
import { useCommandLine } from "../../support/command-line.js";
import { useIsolatedDatabase } from "../../support/isolated-database.js";
import { silentLogger } from "../../support/silent-logger.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const { run, schema, withMemory } = useCommandLine(db);
const start = useChildScripts();
const quickly = { firstMs: 10, everyMs: 50, closeMs: 2_000 };

const rows = async () =>
  (await db.pool.query(`select * from "${db.schema}".held_process order by bytes`)).rows;

describe("what a process holds", () => {
  it("is told soon, then from time to time while there is anything, and no more after that", async () => {
    const held = { owners: 0, memories: 0, bytes: 0 };
    const report = createHeldReport(db.database, () => held, quickly);
    report.changed();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await rows()).toEqual([]);
    Object.assign(held, { owners: 2, memories: 30, bytes: 4_000_000_000 });
    for (let change = 0; change < 100; change++) report.changed();
    await expect.poll(rows).toHaveLength(1);
    const [first] = await listHeldProcesses(db.database);
    expect(first).toMatchObject({ ...held, process: expect.stringMatching(`:${process.pid}$`) });
    await expect
      .poll(async () => Number((await listHeldProcesses(db.database))[0]?.reportedAt))
      .toBeGreaterThan(Number(first?.reportedAt));
    Object.assign(held, { owners: 0, memories: 0, bytes: 0 });
    report.changed();
    await expect.poll(rows).toEqual([]);
    held.owners = 1;
    report.changed();
    await expect.poll(rows).toHaveLength(1);
    await report.close();
    expect(await rows()).toEqual([]);
    report.changed();
    await report.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await rows()).toEqual([]);
  });

  it("is told at most once in the time, whatever happens", async () => {
    let asked = 0;
    const held = () => ({ owners: ++asked, memories: 1, bytes: 1 });
    const report = createHeldReport(db.database, held, { ...quickly, everyMs: 60_000 });
    report.changed();
    await expect.poll(rows).toHaveLength(1);
    for (let change = 0; change < 5; change++) {
      report.changed();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(asked).toBe(1);
    await report.close();
  });

  it("matters to nobody when it cannot be told", async () => {
    const nowhere = { ...db.database, query: () => Promise.reject(new Error("away")) };
    const report = createHeldReport(nowhere, () => ({ owners: 1, memories: 1, bytes: 1 }), quickly);
    report.changed();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await report.close();
    const silent = { ...db.database, query: () => new Promise<never>(() => {}) };
    const late = createHeldReport(silent, () => ({ owners: 1, memories: 1, bytes: 1 }), {
      ...quickly,
      closeMs: 50,
    });
    late.changed();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = performance.now();
    await late.close();
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it("of a process that was killed is shown for five minutes, and removed by upkeep", async () => {
    const insert = (minutes: number, bytes: number) =>
      db.pool.query(
        `insert into "${db.schema}".held_process (id, host_pid, owners, memories, bytes, reported_at)
         values ($1, 'gone:1', 1, 1, $2, now() - $3 * interval '1 minute')`,
        [randomUUID(), bytes, minutes],
      );
    await insert(4, 4);
    await insert(6, 6);
    expect((await listHeldProcesses(db.database)).map(({ bytes }) => bytes)).toEqual([4]);
    // The memory's clock has no say in it.
    const memory = db.memory({ clock: () => new Date("2040-01-01") });
    await memory.upkeep();
    expect((await rows()).map(({ bytes }) => Number(bytes))).toEqual([4]);
    await db.pool.query(`update "${db.schema}".held_process set reported_at = now() - interval '1 day'`);
    await sweepHeldProcesses(db.database);
    expect(await rows()).toEqual([]);
  });
});

describe("mnemograph status", () => {
  it("says that no process holds anything, and what those hold that do", async () => {
    await withMemory(async () => {});
    expect((await run(["status"])).out).toMatch(/^Held +none$/m);
    expect(JSON.parse((await run(["status", "--json"])).out)).toMatchObject({ held: [] });
    if (!onServer()) return;
    const database = inject("databaseUrl") ?? "";
    const children = ["2", "3"].map((users) => start("hold-owners", [database, schema, users]));
    for (const child of children) await child.line("held");
    await expect
      .poll(async () => JSON.parse((await run(["status", "--json"])).out).held, { timeout: 60_000 })
      .toHaveLength(2);
    const { held } = JSON.parse((await run(["status", "--json"])).out);
    expect(held).toMatchObject([
      { process: expect.stringMatching(`:${children[1]!.pid}$`), owners: 3, memories: 9 },
      { process: expect.stringMatching(`:${children[0]!.pid}$`), owners: 2, memories: 6 },
    ]);
    expect(JSON.stringify(held)).not.toContain("user");
    expect((await run(["status"])).out).toMatch(/^Held +5 owners, 15 memories, 0\.\d MB, in 2 processes$/m);
    await children[0]!.kill();
    children[1]!.stop();
    await children[1]!.line("closed");
    // The killed one could not say goodbye.
    expect((await run(["status"])).out).toMatch(/^Held +2 owners, 6 memories, 0\.\d MB, in one process$/m);
  }, 180_000);
});

describe.skipIf(!onServer())("with tenants isolated (server only)", () => {
  const isolated = useIsolatedDatabase(db);

  it("a role that may not work across tenants tells of itself, and names nobody", async () => {
    const memory = createMemory({
      ...{ database: isolated.connectionString("app"), schema: isolated.schema, isolation: "rls" },
      logger: silentLogger,
    });
    const scope = { tenantId: "acme", userId: "ana" };
    for (let recall = 0; recall < 2; recall++) await memory.recall({ scope, threadId: "t" });
    await memory.idle();
    expect(memory.held()).toMatchObject({ owners: 1, list: [{ scope }] });
    const told = async () =>
      (await db.pool.query(`select row_to_json(p)::text as row from "${isolated.schema}".held_process p`))
        .rows;
    await expect.poll(told, { timeout: 30_000 }).toHaveLength(1);
    expect(JSON.stringify(await told())).not.toMatch(/acme|ana/);
    await memory.close();
    expect(await told()).toEqual([]);
  });
});
