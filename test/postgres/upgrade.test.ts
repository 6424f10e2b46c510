import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createDatabase, type Database } from "../../src/postgres/database.js";
import { migrate } from "../../src/postgres/migrate.js";
import { migrationStatus } from "../../src/postgres/migration-status.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { asText, linesOf } from "../support/export-lines.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const fixture = readFileSync(new URL("fixtures/before-version-1.sql", import.meta.url), "utf8");
const embeddings = new HashingEmbeddings({ dimensions: 16 });
const ana = { tenantId: "acme", userId: "ana", appId: "calendar" };
const ben = { userId: "ben" };
const code = (code: string) => expect.objectContaining({ code });

const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await db.pool.query(`drop schema if exists ${schema} cascade`);
});

/** Loads the fixture into a schema of this name. */
async function loadBefore(schema: string): Promise<Database> {
  schemas.push(schema);
  const client = await db.pool.connect();
  try {
    await client.query("create extension if not exists vector");
    await client.query(fixture.replace(/\bmnemograph\b(?!\.tenant_id)/g, schema));
  } finally {
    await client.query("reset all");
    client.release();
  }
  return createDatabase(db.pool, { schemaName: schema }, async () => {});
}

const countsOf = async (schema: string, tables: readonly string[]) => {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const { rows } = await db.pool.query(`select count(*)::int as count from ${schema}.${table}`);
    counts[table] = rows[0].count;
  }
  return counts;
};
const tablesOf = async (schema: string) => {
  const { rows } = await db.pool.query("select tablename from pg_tables where schemaname = $1", [
    schema,
  ]);
  return rows.map(({ tablename }) => tablename as string).sort();
};

describe("a database from before version 1", () => {
  const schema = "upgraded_before";
  let database: Database;
  let before: Record<string, number>;
  const kept = [
    ...[
      "owner",
      "thread",
      "message",
      "message_term",
      "summary",
      "shown",
      "memory",
      "memory_term",
      "memory_source",
    ],
    ...[
      "relation",
      "note_source",
      "change_log",
      "history",
      "consent_request",
      "compared_pair",
      "event",
      "usage",
    ],
    ...["store_item", "embedding_space", "memory_embedding", "store_embedding"],
    ...["checkpoints", "checkpoint_blobs", "checkpoint_writes", "checkpoint_migrations"],
  ];
  const memory = () => db.memory({ schema, embeddings });

  beforeAll(async () => {
    database = await loadBefore(schema);
    before = await countsOf(schema, kept);
  });

  it("is not changed by setup(), which says what to do", async () => {
    const tables = await tablesOf(schema);
    const { locks } = await migrationStatus(database, { vectors: false, upgrade: true });
    expect(locks).toContainEqual(
      expect.objectContaining({ table: "memory", lock: "ACCESS EXCLUSIVE" }),
    );
    await expect(memory().setup()).rejects.toThrow(code("SCHEMA_DIFFERS"));
    await expect(memory().setup()).rejects.toThrow(
      /Stop every process.*back it up.*npx mnemograph migrate/,
    );
    expect(await tablesOf(schema)).toEqual(tables);
  });

  it("is migrated to the latest version with its rows, vectors and isolation", async () => {
    const later = ["0002_work_worker", "0003_forgotten", "0004_epochs"];
    const applied = await migrate(database, { vectors: false, upgrade: true });
    expect(applied).toEqual(["0001_tables", "vector", "isolation", ...later]);
    expect(await countsOf(schema, kept)).toEqual(before);
    const tables = await tablesOf(schema);
    expect(tables.filter((table) => !table.startsWith("checkpoint"))).toHaveLength(23);
    expect(tables).toHaveLength(27);
    expect(await memory().setup()).toEqual([]);
  });

  it.skipIf(!onServer())("has the schema that a fresh one has, by pg_dump", async () => {
    const fresh = "upgraded_fresh";
    schemas.push(fresh);
    const freshDatabase = createDatabase(db.pool, { schemaName: fresh }, async () => {});
    await db.memory({ schema: fresh, embeddings }).setup();
    await migrate(freshDatabase, { vectors: true, isolation: true });
    const dumped = (name: string) => {
      const url = inject("databaseUrl") ?? "";
      const command = ["scripts/postgres.sh", "client", "pg_dump", "-s", "-x", "-n", name, url];
      const text = execFileSync("bash", command).toString();
      return text.replaceAll(name, "it").replace(/^\\(?:un)?restrict .*$/gm, "");
    };
    expect(dumped(schema)).toBe(dumped(fresh));
  });

  it("has its memories, summaries, transcript, store, notes and checkpoints", async () => {
    const opened = memory();
    const found = await opened.query({ scope: ana, query: "green tea" });
    expect(JSON.stringify(found)).toContain("The user prefers green tea to coffee.");
    const summaries = await opened.summaries.list({ scope: ana, threadId: "t-lisbon" });
    const completed = summaries.filter(({ status }) => status === "completed");
    expect(completed.map(({ text }) => text)).toEqual(["They talked about Lisbon."]);
    const recalled = await opened.recall({ scope: ben, threadId: "t-prague", query: "Prague" });
    expect(recalled.summary?.text).toBe("They talked about Prague.");
    expect(recalled.summary).toMatchObject({ startTurn: 1, endTurn: 3 });
    expect(await opened.threads.messages({ scope: ben, threadId: "t-prague" })).toHaveLength(6);
    expect(await opened.store({ scope: ben }).get(["Prague", "kept"], "Prague")).toMatchObject({
      value: { Prague: ["Prague", 1] },
    });
    const notes = await opened.notes.list({ scope: { tenantId: "acme", appId: "calendar" } });
    expect(JSON.stringify(notes)).toContain("Meetings are moved to Monday.");
    const saved = await opened
      .checkpointer()
      .getTuple({ configurable: { thread_id: "t-prague", user_id: "ben" } });
    expect(saved?.checkpoint.channel_values.messages).toHaveLength(6);
  });

  it("continues unfinished work, and finds work of dead workers", async () => {
    const { rows } = await db.pool.query(
      `select kind, attempts, lease_until is not null as leased, retry_at is not null as due, error,
         given_up_at is not null as given_up
       from ${schema}.work order by kind, given_up, owner_ref, thread_ref`,
    );
    expect(rows).toContainEqual(
      expect.objectContaining({ kind: "facts", leased: true, error: "Prague", given_up: false }),
    );
    expect(rows).toContainEqual(
      expect.objectContaining({ kind: "insights", attempts: 2, leased: true }),
    );
    expect(rows).toContainEqual(expect.objectContaining({ kind: "summaries", leased: true }));
    expect(rows.filter((row) => row.given_up)).toHaveLength(3);
    const later = db.memory({ schema, embeddings, clock: () => new Date(Date.now() + 600_000) });
    await later.record({ scope: ben, threadId: "t-prague", messages: [] });
    expect((await later.recall({ scope: ben, threadId: "t-prague" })).processing).toBeNull();
  });

  it("accepts new conversations and memories, exports and forgets", async () => {
    const opened = memory();
    await opened.memories.add(
      { text: "The user moved to Porto.", category: "knowledge" },
      { scope: ben },
    );
    await opened.record({
      scope: ben,
      threadId: "new",
      messages: [{ role: "user", content: "Hello again" }],
    });
    const exported = async () => asText(await linesOf(opened, ben)).join("\n");
    expect(await exported()).toContain("Lives in Prague.");
    expect(await exported()).toContain("The user moved to Porto.");
    await opened.forget(ben);
    expect(await exported()).not.toContain("Prague");
  });
});

describe("an incomplete database from before version 1", () => {
  it.each([
    [
      "an earlier one",
      "delete from SCHEMA.migration where name = '0036_round_news'",
      /early version.*c44db68 first/,
    ],
    [
      "earlier vectors",
      "delete from SCHEMA.vector_migration where name = '0005_store'",
      /set vector.*c44db68 first/,
    ],
    ["upgraded in part by hand", "alter table SCHEMA.thread rename to before_thread", /half way/],
  ])("is refused and not changed: %s", async (_, change, message) => {
    const database = await loadBefore("upgraded_odd");
    await db.pool.query(change.replace("SCHEMA", "upgraded_odd"));
    const tables = await tablesOf("upgraded_odd");
    const upgrade = () => migrate(database, { vectors: false, upgrade: true });
    await expect(upgrade()).rejects.toThrow(code("SCHEMA_DIFFERS"));
    await expect(upgrade()).rejects.toThrow(message);
    expect(await tablesOf("upgraded_odd")).toEqual(tables);
    await db.pool.query("drop schema upgraded_odd cascade");
  });

  it("is not changed when a row breaks a constraint", async () => {
    const database = await loadBefore("upgraded_odd");
    await db.pool.query("alter table upgraded_odd.memory drop constraint memory_importance");
    await db.pool.query("update upgraded_odd.memory set importance = 9");
    const tables = await tablesOf("upgraded_odd");
    await expect(migrate(database, { vectors: false, upgrade: true })).rejects.toThrow(
      /memory_importance/,
    );
    expect(await tablesOf("upgraded_odd")).toEqual(tables);
    await db.pool.query("drop schema upgraded_odd cascade");
  });
});
