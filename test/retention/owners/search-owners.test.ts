import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import pg from "pg";
import { expect, inject, it, onTestFinished } from "vitest";
import { readOften } from "../../support/rows-read.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

it("A search finds users by a beginning or a part of their id, those that begin with it and the latest active first", async () => {
  let now = new Date("2031-01-01T00:00:00Z");
  const memory = db.memory({ clock: () => now });
  const ids = ["Zoe.last@customer.example", "zoezoe", "ana%zoe_", "ben", `${"z".repeat(3_000)}`];
  for (const userId of ids) {
    now = new Date(now.getTime() + 60_000);
    const messages = [new HumanMessage("Hello.")];
    await memory.record({
      scope: { userId },
      threadId: `thread of ${userId.slice(0, 40)}`,
      messages,
    });
  }
  await memory.memories.add({ scope: { userId: "zoe.silent" }, memories: { text: "Knits." } });
  await memory.memories.add({ scope: { appId: "zoe-app" }, memories: { text: "Opens at nine." } });
  const found = async (search: string, limit = 100) => {
    const users = await memory.users.list({ search, limit });
    return users.map(({ scope }) => scope.userId?.slice(0, 30));
  };
  expect(await found("ZOE")).toEqual([
    ...["zoezoe", "Zoe.last@customer.example", "zoe.silent", "ana%zoe_"],
  ]);
  expect(await found("%")).toEqual(["ana%zoe_"]);
  expect(await found("zzzz")).toEqual(["z".repeat(30)]);
  expect(await found("nobody")).toEqual([]);
  const latest = await memory.users.list({ sort: "active", limit: 2 });
  expect(latest.map(({ scope }) => scope.userId?.slice(0, 3))).toEqual(["zzz", "ben"]);
  expect((await memory.apps.list({ search: "zoe" })).map(({ scope }) => scope)).toEqual([
    { appId: "zoe-app" },
  ]);
  expect(await memory.users.list({ search: "zoe", tenantId: "other" })).toEqual([]);
});

it("The latest active ones of a tenant are found, however many are more active elsewhere", async () => {
  const memory = db.memory();
  const tenantId = "quiet";
  for (const userId of ["first", "second", "third"])
    await memory.memories.add({ scope: { tenantId, userId }, memories: { text: "Knits." } });
  const messages = [new HumanMessage("Hello.")];
  await memory.record({ scope: { tenantId, userId: "first" }, threadId: "quiet thread", messages });
  await db.pool.query(`
    with o as (
      insert into "${db.schema}".owner (tenant_id, user_id, app_id)
      select 'crowd', 'user ' || n, '' from generate_series(1, 1000) n returning id, user_id
    )
    insert into "${db.schema}".thread (tenant_id, thread_id, user_id, app_id, owner_ref, last_activity_at)
    select 'crowd', user_id, user_id, '', id, now() + interval '1 hour' from o`);
  const [latest] = await memory.users.list({ tenantId, sort: "active", limit: 1 });
  expect(latest?.scope.userId).toBe("first");
});

it("Lists the latest active users and apps of all tenants or of one as grouping all threads would, ties included", async () => {
  const memory = db.memory();
  await memory.setup();
  const owner = fc.record({
    tenant: fc.constantFrom("", "acme", "globex"),
    kind: fc.constantFrom("users", "apps"),
    // Few different times: many threads tie.
    active: fc.array(fc.nat(6), { maxLength: 5 }),
  });
  const asked = fc.record({
    which: fc.constantFrom("users", "apps"),
    tenantId: fc.constantFrom(undefined, "acme", "globex"),
    limit: fc.integer({ min: 1, max: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(owner, { maxLength: 12 }), asked, async (owners, which) => {
      await db.pool.query(`truncate "${db.schema}".owner, "${db.schema}".thread cascade`);
      await db.pool.query(
        `with input as (select * from jsonb_to_recordset($1::jsonb) i (n int, tenant text, kind text, active jsonb)),
         o as (
           insert into "${db.schema}".owner (tenant_id, user_id, app_id)
           select tenant, case kind when 'users' then 'id ' || n else '' end,
             case kind when 'apps' then 'id ' || n else '' end
           from input order by n returning *
         )
         insert into "${db.schema}".thread (tenant_id, thread_id, user_id, app_id, owner_ref, last_activity_at)
         select o.tenant_id, i.n || '-' || a.place, o.user_id, o.app_id, o.id,
           timestamptz '2031-01-01' + a.hour::int * interval '1 hour'
         from o join input i on o.user_id || o.app_id = 'id ' || i.n
         cross join lateral jsonb_array_elements_text(i.active) with ordinality a (hour, place)`,
        [JSON.stringify(owners.map((each, n) => ({ n, ...each })))],
      );
      const { rows } = await db.pool.query<{ name: string }>(
        `select o.user_id || o.app_id as name from "${db.schema}".owner o
         left join "${db.schema}".thread t on t.owner_ref = o.id
         where (o.user_id <> '') = $1 and ($2::text is null or o.tenant_id = $2)
         group by o.id order by max(t.last_activity_at) desc nulls last, o.id desc limit $3`,
        [which.which === "users", which.tenantId ?? null, which.limit],
      );
      const { tenantId, limit } = which;
      const page = { sort: "active" as const, limit, ...(tenantId !== undefined && { tenantId }) };
      const listed = await memory[which.which as "users" | "apps"].list(page);
      expect(listed.map(({ scope }) => scope.userId ?? scope.appId)).toEqual(
        rows.map(({ name }) => name),
      );
    }),
    { numRuns: 20 },
  );
});

it.runIf(onServer())(
  "Counts the items of the listed alone, not by reading everybody's",
  async () => {
    const pool = new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 });
    onTestFinished(() => pool.end());
    const memory = db.memory({ database: pool });
    await db.pool.query(`
    insert into "${db.schema}".store_item
      (tenant_id, user_id, app_id, namespace, path, key, value, created_at, updated_at)
    select 'crowd', 'user ' || n, 'app ' || n, array['a'], '"a",', 'k', '{}', now(), now() from generate_series(1, 1000) n`);
    await memory.store({ scope: { userId: "has one" } }).put(["a"], "k", {});
    await memory.store({ scope: { appId: "has one" } }).put(["a"], "k", {});
    await db.pool.query(`analyze "${db.schema}".store_item`);
    const listed = async () => {
      const page = { search: "has one" };
      return [await memory.users.list(page), await memory.apps.list(page)].flat();
    };
    expect((await listed()).map(({ items }) => items)).toEqual([1, 1]);
    const read = await readOften({ pool, schema: db.schema }, 100, listed);
    expect(Object.keys(read).filter((name) => name.startsWith("store_item"))).toEqual([]);
  },
);
