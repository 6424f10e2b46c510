import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Check } from "../../packages/server/src/cli/check.js";
import { checkAll, type DoctorFlags, diagnose } from "../../packages/server/src/cli/diagnose.js";
import { migrationFiles } from "../../src/postgres/migration-files.js";
import { shippedSchema } from "../../src/postgres/migration-set.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useSchemaNames } from "../support/fresh-schema.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { round } from "../support/spoken.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const isolated = useIsolatedDatabase(db);
const schemaName = useSchemaNames(db);
const scope = { userId: "ana" };
const embeddings = new HashingEmbeddings({ dimensions: 16 });

const flags = (more: Partial<DoctorFlags> = {}): DoctorFlags => {
  const database = inject("databaseUrl") ?? "";
  return {
    schema: db.schema,
    ...(more.dataDir === undefined && { database }),
    ...more,
  };
};
const withUser = (user: string) => {
  const url = new URL(inject("databaseUrl") ?? "");
  url.username = user;
  return url.href;
};
/** What is not ok, as "verdict check: says todo". */
const wrong = (checks: readonly Check[]) =>
  checks.flatMap(({ check, verdict, says, todo }) =>
    verdict === "ok" ? [] : [`${verdict} ${check}: ${says} ${todo}`],
  );
const examined = async (more?: Partial<DoctorFlags>) =>
  wrong(await checkAll(db.database, "here", flags(more)));
const inSchema = (statement: string) => db.pool.query(statement.replaceAll("@", `"${db.schema}".`));

beforeAll(async () => {
  await db.memory({ embeddings }).setup();
  await db.memory({ embeddings }).memories.add({ scope, memories: { text: "Ana likes tea." } });
  await db.memory().record({ scope, threadId: "t", messages: round("1") });
});

describe("doctor", () => {
  it("The doctor finds nothing wrong where nothing is", async () => {
    const checks = await checkAll(db.database, "here", flags());
    expect(wrong(checks)).toEqual([]);
    const says = Object.fromEntries(checks.map(({ check, says }) => [check, says]));
    expect(says).toMatchObject({
      database: expect.stringMatching(
        onServer() ? /^here, version \d/ : /^Embedded PostgreSQL \S+ in here\.$/,
      ),
      core: expect.stringMatching(/^Version \d+\.$/),
      vector: expect.stringMatching(/^Version \d+\.$/),
      vectors: "All texts have one in hashing-1, 16 dimensions.",
    });
  });

  it("The doctor counts the threads and checkpoints that go by age", async () => {
    const config = join(tmpdir(), `ageing-${randomUUID()}.yaml`);
    writeFileSync(config, "threads: { idleDays: 90 }\ncheckpoints: { keep: 100 }\n");
    const line = async (more: Partial<DoctorFlags> = { config }) => {
      const checks = await checkAll(db.database, "here", flags(more));
      const found = checks.find(({ check }) => check === "threads");
      return `${found?.verdict}: ${found?.says} ${found?.todo ?? ""}`;
    };
    const aged = (days: number) =>
      inSchema(`update @thread set last_activity_at = now() - interval '${days} days'`);
    expect(await line({})).toMatch(/^undefined/);
    await aged(90.5);
    const long = "0 threads with more than 100 checkpoints\\.";
    const counted =
      "1 thread idle for 90 days, 0 of them waiting for background work or consent\\.";
    expect(await line()).toMatch(new RegExp(`^ok: ${counted} ${long}`));
    await aged(92);
    expect(await line()).toMatch(
      new RegExp(`^warn: ${counted} ${long} No process deletes 1 of them\\. Run .*upkeep`),
    );
    await inSchema(work("retry_at", "now() + interval '1 day'"));
    expect(await line()).toMatch(/^ok: 1 thread idle for 90 days, 1 of them waiting/);
    await inSchema(noWork);
    await aged(0);
    rmSync(config);
  });

  const work = (set: string, values: string) =>
    `insert into @work (kind, thread_ref, done_until, ${set}) select 'notes', id, 0, ${values} from @thread`;
  const noWork = "delete from @work where kind = 'notes'";
  it.each<[string, string, string, RegExp]>([
    [
      "functions of an older version",
      "update @meta set functions_version = functions_version - 1",
      "update @meta set functions_version = functions_version + 1",
      /^bad functions: Version \d+, and this package has \d+\. Run `npx @mnemograph\/server migrate/,
    ],
    [
      "a schema that is too new",
      "update @meta set version = version + 90, compatible_from = 90",
      "update @meta set version = version - 90, compatible_from = 1",
      /^bad core: .*set up by a newer mnemograph.* Update the package\./,
    ],
    [
      "a schema of another development version",
      "update @meta set baseline = reverse(baseline)",
      "update @meta set baseline = reverse(baseline)",
      /^bad core: .*another development version.*`drop schema "test_\w+" cascade`.*migrate --vectors --schema test_\w+`/,
    ],
    [
      "a missing migration of the checkpointer",
      "delete from @checkpoint_migrations where v = (select max(v) from @checkpoint_migrations)",
      "insert into @checkpoint_migrations select max(v) + 1 from @checkpoint_migrations",
      /^bad checkpointer: LangGraph's tables lack migrations\. Run `npx @mnemograph\/server migrate --schema \w+`.$/,
    ],
    [
      "texts without a vector in the space in use",
      "update @memory_embedding set active = false",
      "update @memory_embedding set active = true",
      /^warn vectors: 1 text without one in hashing-1, 16 dimensions\. Run `npx @mnemograph\/server reembed --embeddings MODULE --schema \w+/,
    ],
    [
      "a job that is due for long",
      work("retry_at", "now() - interval '1 hour'"),
      noWork,
      /^warn due: 1 notes since 20\S+ \S+Z\. No process does it\. Run `npx @mnemograph\/server upkeep --model MODULE --schema \w+/,
    ],
    [
      "a stuck job",
      work("worker, taken_at, lease_until", "'host:7', now(), now() - interval '1 minute'"),
      noWork,
      onServer()
        ? /^warn stuck: 1 notes by host:7 since 20\S+ \S+Z\. Its worker ended, and none took over\. Run `npx @mnemograph\/server upkeep .*`npx @mnemograph\/server worker --model MODULE --schema \w+`, which needs the package pg-boss \(\d\S+ is installed\)/
        : /^warn stuck: 1 notes by host:7 since 20\S+ \S+Z\. Its worker ended, and none took over\. Run `npx @mnemograph\/server upkeep [^`]*` from cron\.$/,
    ],
    [
      "a job that was given up",
      work("given_up_at", "now()"),
      noWork,
      /^warn given up: 1 notes since 20\S+ \S+Z\. `npx @mnemograph\/server call listJobs --json '\{"state":"failed"\}' --schema \w+.*` says why/,
    ],
  ])("The doctor reports %s, and what to do", async (_, damage, mend, line) => {
    await inSchema(damage);
    const found = await examined().finally(() => inSchema(mend));
    expect(found).toEqual([expect.stringMatching(line)]);
    expect(await examined()).toEqual([]);
  });

  it("The doctor reports a migration that is pending, and asks no table until it ran", async () => {
    const later = {
      name: "0002_mood",
      text: "alter table mnemograph.memory add column mood text;\n",
    };
    const shipped = shippedSchema([...migrationFiles(), later]);
    const checks = await checkAll(db.database, "here", flags(), shipped);
    expect(wrong(checks)[0]).toBe(
      `bad core: Version 1, lacks 0002_mood. Run \`npx @mnemograph/server migrate --schema ${db.schema}\`.`,
    );
    expect(checks.some(({ check }) => check === "due")).toBe(false);
  });

  it("The doctor goes on without the tables of a check, and without any", async () => {
    await inSchema("alter table @work rename to work_away");
    const missing = await examined().finally(() =>
      inSchema("alter table @work_away rename to work"),
    );
    expect(missing).toEqual([
      expect.stringMatching(/^bad work: The tables .* are missing or out of date/),
    ]);
    const schema = schemaName();
    const none = await checkAll({ ...db.database, schemaName: schema }, "here", flags());
    expect(wrong(none)).toEqual([
      `bad core: Not set up. Run \`npx @mnemograph/server migrate --schema ${schema}\`.`,
    ]);
  });
});

describe("doctor without a database", () => {
  it.each<[Partial<DoctorFlags>, RegExp]>([
    [
      { database: "postgresql://ana:secret@127.0.0.1:1/db" },
      /^bad database: The database does not answer \(/,
    ],
    [
      { dataDir: "/nowhere/at-all" },
      /^bad database: There is no database in .* Run `npx @mnemograph\/server migrate --schema test_\w+ --data-dir \/nowhere\/at-all` once\./,
    ],
  ])("The doctor says why nothing answers at %j", async (place, line) => {
    const { checks } = await diagnose(flags(place));
    expect(wrong(checks)).toEqual([expect.stringMatching(line)]);
    expect(JSON.stringify(checks)).not.toContain("secret");
  });
});

it("The doctor's commands may be pasted into a shell, whatever the folder and the schema are called", async () => {
  const dataDir = "/nowhere/Ana's files/$HOME";
  const { checks } = await diagnose(flags({ dataDir, schema: "my memory" }));
  const [, command] = /`npx @mnemograph\/server (.*)`/.exec(wrong(checks)[0] ?? "") ?? [];
  const words = execFileSync("sh", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" });
  expect(words.trimEnd().split("\n")).toEqual([
    "migrate",
    ...["--schema", "my memory"],
    ...["--data-dir", dataDir],
  ]);
});

describe.skipIf(!onServer())("doctor on a server (server only)", () => {
  const diagnosed = async (more: Partial<DoctorFlags>) =>
    wrong((await diagnose(flags(more))).checks);

  it("The doctor names the tables that a role may not use, and the grant", async () => {
    const { pool, schema } = isolated;
    const role = new URL(isolated.connectionString("app")).username;
    await pool.query(`grant usage on schema "${db.schema}" to ${role}`);
    await pool.query(
      `grant select, insert, update, delete on all tables in schema "${db.schema}" to ${role}`,
    );
    expect(await diagnosed({ database: withUser(role) })).toEqual([]);
    await pool.query(`revoke delete on "${db.schema}".message from ${role}`);
    expect(await diagnosed({ database: withUser(role) })).toEqual([
      expect.stringMatching(
        /^bad role: "app_\w+" may not read and write message\. As "\w+" run `grant usage on schema/,
      ),
    ]);
    await pool.query(`revoke usage on schema "${db.schema}" from ${role}`);
    expect((await diagnosed({ database: withUser(role) })).slice(0, 2)).toEqual([
      expect.stringMatching(/^bad role: "app_\w+" may not read and write message/),
      expect.stringMatching(
        /^warn core: Not checked\. The database user may not read the table "meta"/,
      ),
    ]);
    const other = { database: withUser(role), schema: `${schema}_none` };
    expect(await diagnosed(other)).toEqual([
      expect.stringMatching(
        /^bad role: "app_\w+" may not create the tables\. As an administrator run `create schema/,
      ),
      expect.stringMatching(/^bad core: Not set up\./),
    ]);
    await pool.query(`drop owned by ${role}`);
    await pool.query(`grant usage on schema ${schema} to ${role}`);
    await pool.query(
      `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
    );
  });

  it("The doctor calls a role that bypasses row-level security a defect", async () => {
    const { schema } = isolated;
    const owner = { schema, database: isolated.connectionString("owner") };
    expect(await diagnosed(owner)).toEqual([]);
    expect(await diagnosed({ schema })).toEqual([
      expect.stringMatching(
        /^bad tenants: "\w+" bypasses row-level security, so it sees the rows of all tenants\./,
      ),
    ]);
    await isolated
      .memory({ embeddings })
      .memories.add({ scope: { tenantId: "a", userId: "ana" }, memories: { text: "Ana sails." } });
    const app = await diagnosed({ schema, database: isolated.connectionString("app") });
    expect(app).toContainEqual(
      expect.stringMatching(/^warn work: Not checked\. Only the role that owns the tables may/),
    );
    expect(app.filter((line) => !line.includes("Not checked. Only the role that owns"))).toEqual(
      [],
    );
  });

  it("The doctor asks for what embeddings need", async () => {
    const schema = schemaName();
    await db.memory({ schema }).setup();
    const wanted = await diagnosed({ schema, vectors: true });
    expect(wanted[0]).toBe(
      `bad vector: Not set up. Run \`npx @mnemograph/server migrate --vectors --schema ${schema}\`.`,
    );
    await db.pool.query(`create database "${schema}"`);
    const url = new URL(inject("databaseUrl") ?? "");
    url.pathname = schema;
    const bare = await diagnosed({ database: url.href, vectors: true });
    await db.pool.query(`drop database "${schema}" with (force)`);
    expect(bare.at(-1)).toMatch(
      /^bad pgvector: Not created, \S+ is available\. (Run `create extension|Embeddings need pgvector)/,
    );
  });

  it.skipIf(!hasPgbouncer())(
    "The doctor sees a pooler that loses prepared statements",
    async () => {
      const bouncer = await startPgbouncer(inject("databaseUrl") ?? "");
      const { checks } = await diagnose(flags({ database: bouncer.url() }));
      const pooled = checks.find(({ check }) => check === "pooler");
      await bouncer.stop();
      expect(pooled).toMatchObject({
        verdict: "warn",
        says: expect.stringContaining("which loses prepared"),
      });
    },
  );
});
