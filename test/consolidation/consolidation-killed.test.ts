import { describe, expect, inject, it } from "vitest";
import { markChangedOwners } from "../../src/consolidation/consolidation-work.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useChildScripts } from "../support/child-scripts.js";
import { consolidateNow } from "../support/consolidate-now.js";
import { judgingModel } from "../support/pair-judge.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const start = useChildScripts();

describe.skipIf(!onServer())("consolidating on a server (server only)", () => {
  it("goes on where a killed worker was, without asking again", { timeout: 120_000 }, async () => {
    const scope = { userId: "killed" };
    const model = judgingModel(() => "same");
    const memory = db.memory({ model });
    await memory.memories.add(
      [
        { text: "The user enjoys hiking in the Alps every summer." },
        { text: "Every summer the user enjoys hikes across the Alps." },
      ],
      { scope },
    );
    const worker = start("consolidate-slowly", [inject("databaseUrl") ?? "", db.schema, "killed"]);
    await worker.line("deep enough");
    await worker.kill();
    expect(await memory.memories.list({ scope })).toHaveLength(2);
    // Its lease runs out.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const done = await consolidateNow(memory, { scope });
    // Three votes are needed, and the dead worker's first is kept.
    expect(done).toMatchObject({ status: "completed", calls: 2, pairs: [{ action: "merge" }] });
    expect(await memory.memories.list({ scope })).toHaveLength(1);
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("finds those that changed among 100,000 owners in one pass of each table", {
    timeout: 120_000,
  }, async () => {
    await db.pool.query(
      `insert into "${db.schema}".owner (tenant_id, user_id, app_id, memory_count, tick)
       select 'tenant ' || n % 100, 'user ' || n, '', 5, 3 from generate_series(1, 100000) n`,
    );
    await db.pool.query(
      `insert into "${db.schema}".owner_task (owner_ref, task, done_until, done_at)
       select id, 'consolidate', 3, now() from "${db.schema}".owner where tick = 3`,
    );
    await db.pool.query(`analyze "${db.schema}".owner, "${db.schema}".owner_task`);
    const startedMs = performance.now();
    await markChangedOwners(db.database, 2_000);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    const { rows } = await db.pool.query(
      `select count(*)::int as due from "${db.schema}".owner_task where task = 'consolidate' and retry_at is not null`,
    );
    expect(rows[0].due).toBeLessThanOrEqual(1);
  });
});
