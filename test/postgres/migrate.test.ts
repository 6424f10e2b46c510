import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { createDatabase } from "../../src/postgres/database.js";
import { migrationFiles } from "../../src/postgres/migration-files.js";
import { shippedSchema } from "../../src/postgres/migration-set.js";
import { migrationStatus } from "../../src/postgres/migration-status.js";
import { useSchemaNames } from "../support/fresh-schema.js";
import { code } from "../support/rejection.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const freshSchema = useSchemaNames(db);
const core = ["0001_conversations", "0001_memories", "0001_work"];
const scope = { userId: "ana" };
const thread = { scope, threadId: "t" };
const hello = { ...thread, messages: [new HumanMessage({ id: "h", content: "hello" })] };

const openSchema = (schema: string) =>
  createDatabase(db.pool, { schemaName: schema }, async () => {});
const tablesOf = async (schema: string) => {
  const { rows } = await db.pool.query("select tablename from pg_tables where schemaname = $1", [
    schema,
  ]);
  return rows.map((row) => row.tablename as string).sort();
};

describe("setup", () => {
  it("setup() creates the tables, the checkpointer's too, returns the migrations, and then changes nothing", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    expect(await memory.setup()).toEqual(core);
    expect(await tablesOf(schema)).toEqual(
      expect.arrayContaining([
        "checkpoints",
        "event",
        "memory",
        "message",
        "meta",
        "summary",
        "thread",
        "work",
      ]),
    );
    await memory.record(hello);
    expect(await memory.setup()).toEqual([]);
    expect((await memory.recall(thread)).gap).toHaveLength(1);
  });

  it("setup() can run eight times at the same time", async () => {
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
  ])("setup() works in a schema named like %j", async (name) => {
    const memory = db.memory({ schema: freshSchema(name) });
    await memory.setup();
    await memory.record(hello);
    expect((await memory.recall(thread)).lastSeq).toBe(0);
    expect(
      await memory.checkpointer().getTuple({ configurable: { thread_id: "t" } }),
    ).toBeUndefined();
    expect(await memory.threads.list({ scope })).toHaveLength(1);
    expect(await memory.setup()).toEqual([]);
  });

  it.each(['quo"te', "quo'te", "", "  ", "x".repeat(64), "é".repeat(32), "n\u0000l"])(
    "A schema named %j is refused before anything is opened",
    (schema) => {
      expect(() => createMemory({ database: db.pool, schema })).toThrow(code("INVALID_INPUT"));
      expect(() => createMemory({ database: db.pool, schema })).toThrow(/cannot be a schema name/);
    },
  );

  it("setup() never runs implicitly: without it every call names the command", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    const writes = [() => memory.record(hello), () => memory.remember(hello)];
    const reads = [() => memory.recall(thread), () => memory.summaries.list(thread)];
    for (const call of [...writes, ...reads, () => memory.threads.list({ scope })]) {
      await expect(call()).rejects.toThrow(code("SETUP_REQUIRED"));
      await expect(call()).rejects.toThrow(/memory\.setup\(\).*npx @mnemograph\/server migrate/);
    }
    const { rows } = await db.pool.query("select 1 from pg_namespace where nspname = $1", [schema]);
    expect(rows).toEqual([]);
  });

  it("A newer schema that is declared compatible is accepted and not changed", async () => {
    const schema = freshSchema();
    const memory = db.memory({ schema });
    await memory.setup();
    await db.pool.query(`update "${schema}".meta set version = 9, functions_version = 9`);
    expect(await memory.setup()).toEqual([]);
    await memory.record(hello);
    const { rows } = await db.pool.query(`select version, functions_version from "${schema}".meta`);
    expect(rows).toEqual([{ version: 9, functions_version: 9 }]);
  });

  it("A newer schema that is not declared compatible is refused by setup() and by the first call", async () => {
    const schema = freshSchema();
    await db.memory({ schema }).setup();
    await db.pool.query(`update "${schema}".meta set version = 9, compatible_from = 8`);
    const memory = db.memory({ schema });
    for (const call of [memory.setup, () => memory.recall(thread)]) {
      await expect(call()).rejects.toThrow(code("SCHEMA_DIFFERS"));
      await expect(call()).rejects.toThrow(
        /newer mnemograph.*version 9.*knows 1.*Update the package/,
      );
    }
  });

  it.each(["summary (id int)", "meta (key text, value text)", "meta (version int)"])(
    "A schema that has a foreign table %s is refused by setup() and by the first call",
    async (table) => {
      const schema = freshSchema();
      const [name] = table.split(" ");
      await db.pool.query(`create schema "${schema}"`);
      await db.pool.query(`create table "${schema}".${table}`);
      const memory = db.memory({ schema });
      for (const call of [memory.setup, () => memory.recall(thread)]) {
        await expect(call()).rejects.toThrow(code("SCHEMA_DIFFERS"));
        await expect(call()).rejects.toThrow(
          `Schema "${schema}" has a table "${name}" that this package did not make: choose another schema ` +
            "(`schema` of createMemory), and run `npx @mnemograph/server migrate --schema NAME`.",
        );
      }
      expect(await tablesOf(schema)).toEqual([name]);
    },
  );

  it("setup() works beside tables of another program", async () => {
    const schema = freshSchema();
    await db.pool.query(`create schema "${schema}"`);
    await db.pool.query(`create table "${schema}".migration (id int)`);
    const memory = db.memory({ schema });
    await memory.setup();
    await memory.record(hello);
    expect(await memory.setup()).toEqual([]);
  });

  it("Another language than that of indexed words is refused, but accepted before there are any", async () => {
    const schema = freshSchema();
    const english = db.memory({ schema });
    const german = db.memory({ schema, config: { retrieval: { language: "german" } } });
    await english.setup();
    await german.setup();
    await expect(english.setup().then(() => german.setup())).resolves.toEqual([]);
    await german.record({ ...hello, messages: [new HumanMessage({ id: "d", content: "Häuser" })] });
    await expect(english.setup()).rejects.toThrow(code("SCHEMA_DIFFERS"));
    const message = /indexed with the language "german".*retrieval.language is "english"/;
    await expect(english.setup()).rejects.toThrow(message);
    await german.setup();
  });

  it.each(["englsh", " ", "a\u0000"])(
    "Setup refuses the language %j, which no message could be recorded with, by its name",
    async (language) => {
      const memory = db.memory({ schema: freshSchema(), config: { retrieval: { language } } });
      await expect(memory.setup()).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(/^retrieval\.language is .*pg_ts_config/),
      });
    },
  );

  it("setup() leaves the session as it was: search path, no transaction, no lock", async () => {
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
    await expect(doomed.setup()).rejects.toThrow(code("SCHEMA_DIFFERS"));

    expect((await pool.query("show search_path")).rows).toEqual([
      { search_path: "pg_catalog, public" },
    ]);
    const locks = "select pid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()";
    const { rows } = await pool.query(locks);
    expect(rows).toEqual([]);
    expect(await tablesOf(bad)).not.toContain("thread");

    await pool.query(`drop table "${bad}".summary`);
    await expect(doomed.setup()).resolves.not.toEqual([]);
    await pool.query("reset search_path");
    if (pool !== db.pool) await pool.end();
  });
});

describe("a schema of another development version", () => {
  it.each([
    ["another baseline", "update @meta set baseline = 'other'", ""],
    ["no digest of its baseline", "alter table @meta drop column baseline", ""],
    ["a later version", "update @meta set baseline = 'other', version = 4", ""],
    ["vectors", "update @meta set baseline = 'other', vector_version = 1", " --vectors"],
    ["isolation", "update @meta set baseline = 'other', isolation_version = 1", " --isolation"],
  ])(
    "A schema with %s is refused by every way in, unchanged until it is made anew",
    async (_, age, flags) => {
      const schema = freshSchema();
      await db.memory({ schema }).setup();
      await db.memory({ schema }).record(hello);
      await db.pool.query(age.replace("@", `"${schema}".`));
      const remove = `drop schema "${schema}" cascade`;
      const memory = db.memory({ schema });
      const plan = () => migrationStatus(openSchema(schema), { vectors: false });
      const calls = [memory.setup, () => memory.recall(thread), () => memory.remember(hello), plan];
      for (const call of [...calls, () => memory.threads.list({ scope })]) {
        await expect(call()).rejects.toThrow(code("SCHEMA_DIFFERS"));
        await expect(call()).rejects.toThrow(
          `Schema "${schema}" was made by another development version and cannot be upgraded: export what you need ` +
            `with that version, then run the SQL \`${remove}\` and run \`npx @mnemograph/server migrate${flags} --schema ${schema}\`.`,
        );
      }
      const { rows } = await db.pool.query(`select content from "${schema}".message`);
      expect(rows).toEqual([{ content: "hello" }]);

      await db.pool.query(remove);
      await expect(memory.recall(thread)).rejects.toThrow(code("SETUP_REQUIRED"));
      expect(await memory.setup()).toEqual(core);
      expect((await memory.recall(thread)).lastSeq).toBe(-1);
    },
  );

  it("A baseline is recognised by its SQL, not by comments, white space or later migrations", () => {
    const files = migrationFiles();
    const digestWith = (change: (text: string) => string) =>
      shippedSchema(
        files.map(({ name, text }) => ({ name, text: name === "0001_work" ? change(text) : text })),
      ).baseline;
    const { baseline } = shippedSchema();
    expect(digestWith((text) => `-- Why.\n${text.replaceAll("\n  ", "\n\n    ")}-- End.`)).toBe(
      baseline,
    );
    expect(shippedSchema([...files, { name: "0002_mood", text: "select 1;\n" }]).baseline).toBe(
      baseline,
    );
    expect(digestWith((text) => text.replace("kind text", "kind varchar"))).not.toBe(baseline);
  });
});

describe.skipIf(!onServer())("setup with few rights (server only)", () => {
  it("setup() says what a role without CREATE needs, and works in a schema of the role's own", async () => {
    const role = `limited_${randomUUID().slice(0, 8)}`;
    const refused = freshSchema();
    const own = freshSchema();
    await db.pool.query(`create role ${role} login`);
    await db.pool.query(`create schema "${own}" authorization ${role}`);
    const url = new URL(inject("databaseUrl") ?? "");
    url.username = role;
    const open = (schema: string) =>
      createMemory({ database: url.href, schema, logger: silentLogger });

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

  it("setup() finds nothing to do for a role that may only read and write, and one that may not is told", async () => {
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
    await db.pool.query(`revoke insert on all tables in schema "${db.schema}" from ${role}`);
    const refused = memory.record({ ...hello, threadId: role });
    await expect(refused).rejects.toThrow(/INSERT, UPDATE and DELETE on all its tables/);
    await memory.close();
    await db.pool.query(`drop owned by ${role}`);
    await db.pool.query(`drop role ${role}`);
  });
});

describe.skipIf(!onServer())("a read-only server (server only)", () => {
  it("A read-only server needs no set-up where nothing is missing, and is named where something is", async () => {
    const url = new URL(inject("databaseUrl") ?? "");
    url.searchParams.set("options", "-c default_transaction_read_only=on");
    const open = (schema: string) =>
      createMemory({ database: url.href, schema, logger: silentLogger });
    const upToDate = open(db.schema);
    await db.memory().setup();
    expect(await upToDate.setup()).toEqual([]);
    await upToDate.close();
    const missing = open(freshSchema());
    await expect(missing.setup()).rejects.toThrow(code("PERMISSION_DENIED"));
    await expect(missing.setup()).rejects.toThrow(/read-only.*replica.*primary/);
    await missing.close();
  });
});
