import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createDatabase } from "../../src/postgres/database.js";
import { migrate } from "../../src/postgres/migrate.js";
import { migrationFiles } from "../../src/postgres/migration-files.js";
import { locksOf } from "../../src/postgres/migration-locks.rule.js";
import { shippedSchema } from "../../src/postgres/migration-set.js";
import { migrationStatus } from "../../src/postgres/migration-status.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useSchemaNames } from "../support/fresh-schema.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const freshSchema = useSchemaNames(db);
const core = ["0001_conversations", "0001_memories", "0001_work"];
const openSchema = (schema: string) =>
  createDatabase(db.pool, { schemaName: schema }, async () => {});

describe("a migration after the baseline", () => {
  const setUpWith = async (schema: string, ...later: { name: string; text: string }[]) => {
    return migrate(openSchema(schema), {
      vectors: false,
      shipped: shippedSchema([...migrationFiles(), ...later]),
    });
  };

  it("A later migration runs once, after those before, and is listed with its locks until then", async () => {
    const schema = freshSchema();
    await setUpWith(schema);
    const later = {
      name: "0002_mood",
      text: "-- Why.\nalter table mnemograph.memory add column mood text;\ncreate index memory_mood on mnemograph.memory (mood);\n",
    };
    const shipped = shippedSchema([...migrationFiles(), later]);
    const { sets, locks } = await migrationStatus(openSchema(schema), { vectors: false, shipped });
    expect(sets[0]).toEqual({ set: "core", version: 1, pending: ["0002_mood"] });
    expect(locks.map(({ table, lock }) => `${table}: ${lock}`)).toEqual([
      "memory: ACCESS EXCLUSIVE",
      "memory: SHARE",
    ]);
    expect(await setUpWith(schema, later)).toEqual(["0002_mood"]);
    expect(await setUpWith(schema, later)).toEqual([]);
  });

  it("A later migration runs where its set is installed", async () => {
    const schema = freshSchema();
    await db.memory({ schema, embeddings: new HashingEmbeddings({ dimensions: 8 }) }).setup();
    const later = {
      name: "0002_vector_note",
      text: "alter table mnemograph.embedding_space add column note text;\n",
    };
    expect(await setUpWith(schema, later)).toEqual(["0002_vector_note"]);
    expect(await setUpWith(freshSchema(), later)).toEqual(core);
  });

  it("A later migration builds indexes concurrently, and rebuilds an invalid one", async () => {
    const schema = freshSchema();
    await setUpWith(schema);
    const later = [
      {
        name: "0002_indexes",
        text: "create index concurrently if not exists event_step on mnemograph.event (step);\n",
      },
      { name: "0003_mood", text: "alter table mnemograph.event add column mood text;\n" },
    ];
    await db.pool.query(`create index event_step on "${schema}".event (op)`);
    await db.pool.query("update pg_index set indisvalid = false where indexrelid = $1::regclass", [
      `"${schema}".event_step`,
    ]);
    expect(await setUpWith(schema, ...later)).toEqual(["0002_indexes", "0003_mood"]);
    const { rows } = await db.pool.query(
      "select indexdef from pg_indexes where schemaname = $1 and indexname = $2",
      [schema, "event_step"],
    );
    expect(rows[0]?.indexdef).toMatch(/\(step\)$/);
    expect(await setUpWith(schema, ...later)).toEqual([]);
    expect(await setUpWith(freshSchema(), ...later)).toEqual([
      ...core,
      "0002_indexes",
      "0003_mood",
    ]);
  });

  it.skipIf(!onServer())(
    "A later migration lets others pass while it waits for a table's lock",
    async () => {
      const schema = freshSchema();
      await setUpWith(schema);
      const reader = await db.pool.connect();
      await reader.query("begin");
      await reader.query(`select from "${schema}".memory`);
      const later = {
        name: "0002_mood",
        text: "alter table mnemograph.memory add column mood text;\n",
      };
      const migrated = setUpWith(schema, later);
      // A migration that waited for its lock without a timeout would block these reads.
      for (let read = 0; read < 4; read++) {
        await sleep(800);
        await db.pool.query(`select from "${schema}".memory`);
      }
      await reader.query("commit");
      reader.release();
      expect(await migrated).toEqual(["0002_mood"]);
    },
  );
});

describe("the shipped migrations", () => {
  const { migrations, functions } = shippedSchema();

  it("The shipped migrations are single statements with known locks", () => {
    for (const { statementsFor } of migrations) {
      const statements = statementsFor("memory");
      expect(() => locksOf(statements, '"memory"')).not.toThrow();
      for (const statement of statements) expect(statement.split("$$").length % 2).toBe(1);
    }
    expect(functions.version).toBeGreaterThan(0);
  });

  it("A statement with unknown locks is refused in a migration", () =>
    expect(() => locksOf(["lock table x"], '"memory"')).toThrow(
      /locks are not known: lock table x/,
    ));
});
