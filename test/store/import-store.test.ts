import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useCommandLine } from "../support/command-line.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const { run, schema: cliSchema, withMemory } = useCommandLine(db);
const embeddings = new HashingEmbeddings({ dimensions: 16 });
const theirs = `theirs_${process.pid}`;
const code = (code: string) => expect.objectContaining({ code });

/** What LangGraph's store holds: of PostgresStore itself on a server, else in tables as it makes them. */
beforeAll(async () => {
  await db.memory({ embeddings }).setup();
  const url = inject("databaseUrl");
  if (url !== null) {
    const store = new PostgresStore({
      connectionOptions: url,
      schema: theirs,
      index: { dims: 16, embed: embeddings },
    });
    await store.put(["memories", "ana"], "tea", { text: "Likes green tea" });
    await store.put(["memories", "ana", "deep"], "car", { text: "Drives a red car" });
    await store.put(["memories", "ben"], "dog", { text: "Has a dog" }, undefined, { ttl: 60 });
    await store.put(["memories", "ben"], "gone", { text: "Expired" }, undefined, { ttl: 60 });
    await store.stop();
  } else {
    await db.pool.query(`create schema ${theirs}`);
    await db.pool.query(
      `create table ${theirs}.store (namespace_path text, key text, value jsonb not null, created_at timestamptz default now(),
         updated_at timestamptz default now(), expires_at timestamptz, primary key (namespace_path, key))`,
    );
    await db.pool.query(
      `insert into ${theirs}.store (namespace_path, key, value, expires_at) values
         ('memories:ana', 'tea', '{"text": "Likes green tea"}', null), ('memories:ana:deep', 'car', '{"text": "Drives a red car"}', null),
         ('memories:ben', 'dog', '{"text": "Has a dog"}', now() + interval '1 hour'),
         ('memories:ben', 'gone', '{"text": "Expired"}', now() + interval '1 hour')`,
    );
  }
  await db.pool.query(
    `update ${theirs}.store set expires_at = now() - interval '1 minute' where key = 'gone'`,
  );
});
afterAll(async () => {
  await db.pool.query(`drop schema ${theirs} cascade`);
});

it("takes items over with their times and words, each to whom its namespace names; again it finds them there", async () => {
  const memory = db.memory({ embeddings });
  const scope = ([, userId = ""]: readonly string[]) => ({ userId });
  const wanted = { schema: theirs, scope, batchSize: 2 };
  expect(await memory.importStore({ ...wanted, dryRun: true })).toEqual({
    imported: 3,
    present: 0,
    withVectors: 0,
  });
  await memory.store({ scope }).put(["memories", "ana"], "tea", { text: "Likes black tea" });
  const progress: number[] = [];
  const stopping = new AbortController();
  const stopped = memory.importStore({
    ...wanted,
    signal: stopping.signal,
    onProgress: ({ done, total }) => {
      expect(total).toBe(3);
      progress.push(done);
      if (done > 0) stopping.abort(new Error("stopped"));
    },
  });
  await expect(stopped).rejects.toThrow("stopped");
  expect(progress).toEqual([0, 2]);
  expect(await memory.importStore(wanted)).toEqual({ imported: 1, present: 2, withVectors: 1 });
  expect(await memory.importStore(wanted)).toEqual({ imported: 0, present: 3, withVectors: 0 });
  const ofAna = memory.store({ scope: { userId: "ana" } });
  expect((await ofAna.get(["memories", "ana"], "tea"))?.value).toEqual({ text: "Likes black tea" });
  const [found] = await ofAna.search(["memories"], { query: "the red car" });
  const { rows } = await db.pool.query(`select created_at from ${theirs}.store where key = 'car'`);
  expect(found).toMatchObject({
    namespace: ["memories", "ana", "deep"],
    key: "car",
    createdAt: rows[0].created_at,
  });
  const kept = await db.pool.query(
    `select key, ttl_minutes::int as ttl, expires_at > now() as kept from "${db.schema}".store_item where user_id = 'ben'`,
  );
  expect(kept.rows).toEqual([{ key: "dog", ttl: 60, kept: true }]);
});

it("copies vectors where it is told that one model made them", async () => {
  if (!onServer()) return;
  const memory = db.memory({ embeddings });
  const copying = { schema: theirs, scope: { userId: "copies" }, vectors: "copy" } as const;
  expect(await memory.importStore(copying)).toEqual({ imported: 3, present: 0, withVectors: 3 });
  const [found] = await memory
    .store({ scope: { userId: "copies" } })
    .search([], { query: "Likes green tea" });
  expect(found?.key).toBe("tea");
  const other = db.memory({
    embeddings: Object.assign(new HashingEmbeddings({ dimensions: 32 }), { model: "other" }),
  });
  await expect(other.importStore({ ...copying, scope: { userId: "other" } })).rejects.toThrow(
    code("DIMENSION_MISMATCH"),
  );
  await expect(db.memory().importStore(copying)).rejects.toThrow(code("INVALID_INPUT"));
});

it("says where there is no such store", async () => {
  await expect(db.memory().importStore({ schema: "nowhere" })).rejects.toThrow(code("NOT_FOUND"));
  await expect(db.memory().importStore({ batchSize: 0 })).rejects.toThrow(code("INVALID_INPUT"));
});

it("mnemograph import-store does it, from another database too", async () => {
  const missing = await run(["import-store", "--from-schema", "nowhere"]);
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('has no table "store"') });
  const both = await run(["import-store", "--user", "ana", "--user-label", "2"]);
  expect(both.err).toContain("give one of them");
  const url = inject("databaseUrl");
  if (url === null) return;
  await withMemory((memory) => memory.setup());
  const from = [
    "import-store",
    "--from-schema",
    theirs,
    "--from",
    url,
    "--user-label",
    "2",
    "--tenant",
    "acme",
  ];
  expect((await run([...from, "--dry-run"])).out).toMatch(/Would take over 3 items/);
  expect((await run(from)).out).toMatch(/Took over 3 items; 0 were there already. 3 have no vectors/);
  expect(JSON.parse((await run([...from, "--json"])).out)).toEqual({
    imported: 0,
    present: 3,
    withVectors: 0,
  });
  const { rows } = await db.pool.query(
    `select distinct tenant_id, user_id from "${cliSchema}".store_item order by 2`,
  );
  expect(rows).toEqual([
    { tenant_id: "acme", user_id: "ana" },
    { tenant_id: "acme", user_id: "ben" },
  ]);
});
