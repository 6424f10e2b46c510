import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../src/postgres/database.js";
import { markChangedOwners } from "../../../src/reflection/consolidation/changed-owners.js";
import { readOften } from "../../support/rows-read.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

describe.skipIf(!onServer())("consolidation on a server (server only)", () => {
  it("The changed owners among 100,000 are found in one pass of each table", async () => {
    await db.pool.query(
      `insert into "${db.schema}".owner (tenant_id, user_id, app_id, memory_count, revision)
       select 'tenant ' || n % 100, 'user ' || n, '', 5, 3 from generate_series(1, 100000) n`,
    );
    await db.pool.query(
      `insert into "${db.schema}".work (owner_ref, kind, done_until, done_at)
       select id, 'consolidation', 3, now() from "${db.schema}".owner where revision = 3`,
    );
    await db.pool.query(`analyze "${db.schema}".owner, "${db.schema}".work`);
    const pool = new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 });
    onTestFinished(() => pool.end());
    const settings = { schemaName: db.schema, clock: () => new Date() };
    const database = createDatabase(pool, settings, async () => {});
    const mark = () => markChangedOwners(database, 2_000);
    expect(await readOften({ pool, schema: db.schema }, 110_000, mark)).toEqual({});
    const { rows } = await db.pool.query(
      `select count(*)::int as due from "${db.schema}".work where kind = 'consolidation' and retry_at is not null`,
    );
    expect(rows[0].due).toBeLessThanOrEqual(1);
  });
});
