import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const made: string[] = [];
const scope = { userId: "ana" };
const thread = { scope, threadId: "t" };
const hello = { ...thread, messages: [new HumanMessage({ id: "h", content: "hello" })] };

/** A name of a schema that does not exist yet; dropped at the end. */
function freshSchema(name = "fresh"): string {
  const schema = `${name}_${randomUUID().slice(0, 8)}`;
  made.push(schema);
  return schema;
}

afterAll(async () => {
  for (const schema of made) await db.pool.query(`drop schema if exists "${schema}" cascade`);
});

const code = (code: string) => expect.objectContaining({ code });
const tablesOf = async (schema: string) => {
  const { rows } = await db.pool.query("select tablename from pg_tables where schemaname = $1", [schema]);
  return rows.map((row) => row.tablename as string).sort();
};

describe("setup", () => {
  it("makes the tables, the checkpointer's too, and says what ran; again it is harmless", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    const applied = await memory.setup();
    expect(applied[0]).toBe("0001_conversations");
    expect(await tablesOf(schema)).toEqual(
      expect.arrayContaining(["checkpoints", "event", "message", "migration", "summary", "thread"]),
    );
    await memory.record(hello);
    expect(await memory.setup()).toEqual([]);
    expect((await memory.recall(thread)).gap).toHaveLength(1);
  });

  it("is safe from eight at once", async () => {
    const schema = freshSchema();
    const connectionString = inject("databaseUrl");
    const memories = Array.from({ length: 8 }, () =>
      createMemory({ database: connectionString ?? db.pool, schema, logger: silentLogger }),
    );
    const applied = await Promise.all(memories.map((memory) => memory.setup()));
    const [once] = applied.filter((names) => names.length > 0);
    expect(applied.flat()).toEqual(once);
    await Promise.all(memories.map((memory) => memory.record({ ...hello, messages: [] })));
    await Promise.all(memories.map((memory) => memory.close()));
  });

  it.each([
    "My-Schema",
    "select",
    "with space",
    "schéma 日本 😀",
    "per%cent",
    "$1",
    "semi;colon",
    "back\\slash",
  ])("works in a schema named like %j", async (name) => {
    const schema = freshSchema(name);
    const memory = db.memory({ schema });
    await memory.setup();
    await memory.record(hello);
    expect((await memory.recall(thread)).lastSeq).toBe(0);
    expect(await memory.checkpointer().getTuple({ configurable: { thread_id: "t" } })).toBeUndefined();
    expect(await memory.threads.list({ scope })).toHaveLength(1);
    expect(await memory.setup()).toEqual([]);
  });

  it.each(['quo"te', "quo'te", "", "  ", "x".repeat(64), "é".repeat(32), "n\u0000l"])(
    "refuses a schema named %j before anything is opened",
    (schema) => {
      expect(() => createMemory({ database: db.pool, schema })).toThrow(code("INVALID_INPUT"));
      expect(() => createMemory({ database: db.pool, schema })).toThrow(/cannot be a schema name/);
    },
  );

  it("keeps two schemas of one database apart", async () => {
    const [one, other] = [db.memory({ schema: freshSchema() }), db.memory({ schema: freshSchema() })];
    await one.setup();
    await other.setup();
    await one.record(hello);
    expect((await other.recall(thread)).lastSeq).toBe(-1);
    expect(await other.threads.list({ scope })).toEqual([]);
    const foreign = { ...hello, scope: { userId: "ben" } };
    await expect(other.record(foreign)).resolves.toEqual({ recorded: 1, lastSeq: 0 });
  });

  it("is never done implicitly: without it every call names the command", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    const calls = [
      () => memory.record(hello),
      () => memory.recall(thread),
      () => memory.remember(hello),
      () => memory.threads.list({ scope }),
      () => memory.summaries.list(thread),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toThrow(code("SETUP_REQUIRED"));
      await expect(call()).rejects.toThrow(/memory\.setup\(\).*npx mnemograph migrate/);
    }
    const { rows } = await db.pool.query("select 1 from pg_namespace where nspname = $1", [schema]);
    expect(rows).toEqual([]);
  });

  it("refuses a database that a newer version set up, and leaves it as it is", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    await memory.setup();
    await db.pool.query(`insert into "${schema}".migration (name, run_on) values ('9999_future', now())`);
    await expect(memory.setup()).rejects.toThrow(code("SCHEMA_DIFFERS"));
    await expect(memory.setup()).rejects.toThrow(/9999_future.*Update the package/);
  });

  it("refuses a migration that is not the one that was run", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    await memory.setup();
    await db.pool.query(
      `update "${schema}".migration_checksum set checksum = 'another' where name = '0001_conversations'`,
    );
    await expect(memory.setup()).rejects.toThrow(code("SCHEMA_DIFFERS"));
    await expect(memory.setup()).rejects.toThrow(/0001_conversations/);
  });

  it("refuses another language than words are indexed with, and takes it while there are none", async () => {
    const schema = freshSchema();
    const english = db.memory({ schema });
    const german = db.memory({ schema, config: { retrieval: { language: "german" } } });
    await english.setup();
    await german.setup();
    await expect(english.setup().then(() => german.setup())).resolves.toEqual([]);
    await german.record({ ...hello, messages: [new HumanMessage({ id: "d", content: "Häuser" })] });
    await expect(english.setup()).rejects.toThrow(code("SCHEMA_DIFFERS"));
    await expect(english.setup()).rejects.toThrow(
      /indexed with the language "german".*retrieval.language is "english"/,
    );
    await german.setup();
  });

  it("finishes what a process killed right after a migration left undone", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    await memory.setup();
    await db.pool.query(`drop table "${schema}".migration_checksum`);
    expect(await memory.setup()).toEqual([]);
    const { rows } = await db.pool.query(`select name from "${schema}".migration_checksum order by name`);
    expect(rows[0]).toEqual({ name: "0001_conversations" });
  });

  it("leaves the session as it was: search path, no transaction, no lock", async () => {
    const pool = onServer()
      ? new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 })
      : db.pool;
    const good = freshSchema();
    const bad = freshSchema();
    await pool.query("set search_path to pg_catalog, public");
    await createMemory({ database: pool, schema: good, logger: silentLogger }).setup();
    await pool.query(`create schema "${bad}"`);
    await pool.query(`create table "${bad}".summary (id int)`);
    const doomed = createMemory({ database: pool, schema: bad, logger: silentLogger });
    await expect(doomed.setup()).rejects.toThrow(code("DATABASE_ERROR"));

    expect((await pool.query("show search_path")).rows).toEqual([{ search_path: "pg_catalog, public" }]);
    const { rows } = await pool.query(
      "select pid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
    );
    expect(rows).toEqual([]);
    expect(await tablesOf(bad)).not.toContain("thread");

    await pool.query(`drop table "${bad}".summary`);
    await expect(doomed.setup()).resolves.not.toEqual([]);
    await pool.query("reset search_path");
    if (pool !== db.pool) await pool.end();
  });
});

describe.skipIf(!onServer())("setup with few rights (server only)", () => {
  it("says what a role without CREATE needs, and works in a schema of the role's own", async () => {
    const role = `limited_${randomUUID().slice(0, 8)}`;
    const refused = freshSchema();
    const own = freshSchema();
    await db.pool.query(`create role ${role} login`);
    await db.pool.query(`create schema "${own}" authorization ${role}`);
    const url = new URL(inject("databaseUrl") ?? "");
    url.username = role;
    const open = (schema: string) => createMemory({ database: url.href, schema, logger: silentLogger });

    const without = open(refused);
    await expect(without.setup()).rejects.toThrow(code("PERMISSION_DENIED"));
    await expect(without.setup()).rejects.toThrow(/CREATE on the database/);
    await without.close();

    const within = open(own);
    await within.setup();
    await within.record(hello);
    expect(await within.setup()).toEqual([]);
    await within.close();

    const foreign = open(db.schema);
    await expect(foreign.setup()).rejects.toThrow(code("PERMISSION_DENIED"));
    await expect(foreign.recall(thread)).rejects.toThrow(code("PERMISSION_DENIED"));
    await foreign.close();

    await db.pool.query(`drop schema "${own}" cascade`);
    await db.pool.query(`drop role ${role}`);
  });

  it("finds nothing to do for a role that may only read and write", async () => {
    const role = `daily_${randomUUID().slice(0, 8)}`;
    await db.pool.query(`create role ${role} login`);
    await db.pool.query(`grant usage on schema "${db.schema}" to ${role}`);
    await db.pool.query(
      `grant select, insert, update, delete on all tables in schema "${db.schema}" to ${role}`,
    );
    const url = new URL(inject("databaseUrl") ?? "");
    url.username = role;
    const memory = createMemory({ database: url.href, schema: db.schema, logger: silentLogger });
    expect(await memory.setup()).toEqual([]);
    await memory.record({ ...hello, threadId: role });
    await memory.close();
    await db.pool.query(`drop owned by ${role}`);
    await db.pool.query(`drop role ${role}`);
  });
});
