import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { readOften } from "../support/rows-read.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const others = 20_000;
const many = others / 20;

/** Owners, threads and events of users and apps of ten tenants. */
const fill = (schema: string) => `
  set session_replication_role = replica;
  insert into "${schema}".owner (tenant_id, user_id, app_id)
  select 'tenant ' || n % 10, 'user ' || n, '' from generate_series(1, ${others}) n
  union all select 'tenant ' || n % 10, '', 'app ' || n from generate_series(1, 100) n;
  insert into "${schema}".thread (tenant_id, thread_id, user_id, app_id)
  select 'tenant ' || n % 10, 'thread ' || n, 'user ' || n, '' from generate_series(1, ${others}) n
  union all select 'tenant ' || n % 10, 'thread of app ' || n, '', 'app ' || n from generate_series(1, 100) n;
  insert into "${schema}".event (tenant_id, user_id, app_id, node, op, status)
  select 'tenant ' || n % 10, case when n % 10 = 0 then 'user ' || n else '' end, '', 'context', 'search', 'ok'
  from generate_series(1, ${others}) n;
  reset session_replication_role;
  analyze "${schema}".owner, "${schema}".thread, "${schema}".event`;

describe.skipIf(!onServer())(`isolated tenants, among ${others} owners (server only)`, () => {
  const isolated = useIsolatedDatabase(db);
  const scope = { tenantId: "tenant 1", userId: "ana" };
  const thread = { scope, threadId: "of ana" };
  /** One session that caches its plans, as the pools of the library do. */
  let pool: pg.Pool;
  let memory: Memory;

  beforeAll(async () => {
    const connectionString = isolated.connectionString("app");
    pool = new pg.Pool({
      connectionString,
      max: 1,
      options: "-c plan_cache_mode=force_generic_plan",
    });
    memory = isolated.memory({ database: pool });
    await db.pool.query(fill(isolated.schema));
  });
  afterAll(() => pool?.end());

  const inserts: Record<string, string> = {
    "a user": `owner (tenant_id, user_id, app_id) values ('tenant 1', 'eve', '')`,
    "a thread": `thread (tenant_id, thread_id, user_id, app_id) values ('tenant 1', 'of eve', 'eve', '')`,
    "an event": `event (tenant_id, user_id, app_id, node, op, status)
      values ('tenant 1', '', 'app 1', 'context', 'search', 'ok')`,
  };

  it.each(Object.keys(inserts))(
    "Isolated tenants write %s without reading rows that have the same id",
    async (what) => {
      await isolated.asTenant("t:tenant 1", async (client) => {
        const insert = `insert into "${isolated.schema}".${inserts[what]}`;
        // The first one reads the catalogues.
        await client.query(`savepoint before; ${insert}; rollback to before`);
        const { rows } = await client.query(`explain (analyze, buffers, format json) ${insert}`);
        const { "Shared Hit Blocks": hit, "Shared Read Blocks": read } =
          rows[0]["QUERY PLAN"][0].Plan;
        expect(hit + read).toBeLessThan(40);
      });
    },
  );

  const calls: Record<string, () => Promise<unknown>> = {
    recall: () => memory.recall({ ...thread, query: "tea" }),
    record: () => memory.record({ ...thread, messages: [new HumanMessage("Hello.")] }),
    "memories.add": () => memory.memories.add({ scope, memories: { text: "Likes tea." } }),
    "memories.list": () => memory.memories.list({ scope }),
    "changes.list": () => memory.changes.list({ scope, since: 0 }),
    "threads.list": () => memory.threads.list({ scope }),
    "events.list": () => memory.events.list({ scope }),
    "forget, counted": () => memory.forget({ scope, dryRun: true }),
    "an app's notes": () => memory.notes.list({ scope: { tenantId: "tenant 1", appId: "app 1" } }),
    "an app's threads": () =>
      memory.threads.list({ scope: { tenantId: "tenant 1", appId: "app 1" } }),
  };

  it.each(Object.entries(calls))(
    "Isolated tenants find their rows by an index: %s",
    async (_, call) => {
      expect(await readOften({ pool, schema: isolated.schema }, many, call)).toEqual({});
    },
  );
});
