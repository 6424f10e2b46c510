import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useChildScripts } from "../support/child-scripts.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const start = useChildScripts();

/** Cuts every connection of the workers. */
const cutConnections = () =>
  db.pool.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where pid <> pg_backend_pid() and query like '%"${db.schema}"%' and pid not in (
      select pid from pg_stat_activity where application_name = 'test'
    )`);

describe.skipIf(!onServer())("killed workers (server only)", () => {
  it("Workers that are killed and cut off leave nothing half done, and the next ones go on", async () => {
    const worker = (number: number) =>
      start("churn", [inject("databaseUrl") ?? "", db.schema, `${number}`]);
    const unexpected: string[] = [];
    for (let round = 0; round < 5; round++) {
      const workers = [worker(1), worker(2)];
      for (const { line } of workers) await line("two turns");
      for (let cut = 0; cut < 3; cut++) {
        await sleep(100 + Math.random() * 400);
        await cutConnections();
      }
      await sleep(Math.random() * 500);
      // SIGKILL: no handler runs.
      for (const { kill, lines } of workers) {
        await kill();
        unexpected.push(...lines.filter((line) => line.startsWith("unexpected")));
      }
      // A user who is half forgotten stays so until the next request.
      const broken = await brokenInvariants(db);
      expect(broken.filter(({ user }) => !user.startsWith("rare"))).toEqual([]);
    }
    expect(unexpected).toEqual([]);

    const memory = db.memory();
    await memory.upkeep();
    const scope = { userId: "churn" };
    const { rows } = await db.pool.query(
      `select (select count(*) from "${db.schema}".history)::int as changes,
        (select count(*) from "${db.schema}".message)::int as messages`,
    );
    // Each worker had at least two turns.
    expect(rows[0].changes).toBeGreaterThan(0);
    expect(rows[0].messages).toBeGreaterThan(0);
    for (const user of ["rare 1", "rare 2", "churn"])
      await memory.forget({ scope: { userId: user } });
    expect(await memory.memories.list({ scope })).toEqual([]);
    expect(await brokenInvariants(db)).toEqual([]);
  });
});
