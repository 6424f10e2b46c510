import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { compileSources } from "../../scripts/compile-sources.js";
import { makeEmptyDatabase } from "../../scripts/make-empty-database.js";
import { createMemory } from "../../src/create-memory.js";
import { openEmbeddedPool } from "../../src/postgres/embedded-pool.js";
import { emptyDatabase } from "../../src/postgres/empty-database.js";
import { citusStatements, statementProblems } from "../lint/check-statements.js";
import { writeCitusStatements } from "../lint/citus-statements.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Of a real server; null in a run on the embedded database. */
    databaseUrl: string | null;
    compiled: string;
    /** Folder with the statements that each test file sent. */
    statements: string;
    /**
     * Paths of an embedded database whose schema "mnemograph" is set up: a dump and a folder. Null
     * on a server.
     */
    embedded: { readonly dump: string; readonly dataDir: string } | null;
  }
}

/** Makes the embedded database and compiles the programs, once for all test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const databaseUrl = process.env.DATABASE_URL || null;
  if (databaseUrl !== null) await checkServer(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-test-"));
  const compiled = join(folder, "compiled");
  const [embedded] = await Promise.all([
    databaseUrl === null ? embeddedIn(folder) : null,
    compileSources(compiled),
  ]);
  project.provide("databaseUrl", databaseUrl);
  project.provide("compiled", compiled);
  project.provide("embedded", embedded);
  const statements = join(folder, "statements");
  mkdirSync(statements);
  project.provide("statements", statements);
  return async () => {
    const version = databaseUrl && (await citusVersion(databaseUrl));
    if (version && isCitusRun(project) && isGreen(project)) {
      const isWhole = await ranAll(project);
      writeCitusStatements(citusStatements(statements), { version, isWhole });
    }
    const problems = statementProblems(statements, await isWhole(project));
    for (const problem of problems) console.error(problem);
    // Vitest only prints an error that is thrown here.
    if (problems.length > 0) process.exitCode = 1;
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Of a server with Citus: its version and PostgreSQL's. */
async function citusVersion(connectionString: string): Promise<string | null> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_extension where extname = 'citus'");
    if (rowCount === 0) return null;
    const { rows } = await client.query(
      "select split_part(citus_version(), ' ', 2) as citus, split_part(version(), ' ', 2) as server",
    );
    return `${rows[0].citus} on PostgreSQL ${rows[0].server}`;
  } finally {
    await client.end();
  }
}

const isCitusRun = ({ config }: TestProject) =>
  config.include.some((each) => each.startsWith("test/citus/"));

const isGreen = ({ vitest }: TestProject) =>
  vitest.state.getTestModules().every((each) => each.ok());

async function ranAll(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles();
  return project.vitest.state.getTestModules().length >= testFiles.length;
}

/** Whether all of the ordinary suite ran. */
const isWhole = async (project: TestProject) =>
  project.config.include.includes("test/**/*.test.ts") && (await ranAll(project));

async function embeddedIn(folder: string) {
  console.log(
    "DATABASE_URL is not set: tests of several processes and of server restarts are skipped.",
  );
  const embedded = { dump: join(folder, "dump.tar"), dataDir: join(folder, "data") };
  await keepEmptyDatabase();
  const { pool, engine, close } = openEmbeddedPool({ dataDir: embedded.dataDir });
  await createMemory({ database: pool }).setup();
  const dump = await engine().dumpDataDir("none");
  writeFileSync(embedded.dump, Buffer.from(await dump.arrayBuffer()));
  await close();
  return embedded;
}

/** Caches an empty embedded database between runs, since to make one takes seconds. */
async function keepEmptyDatabase(): Promise<void> {
  const packages = resolve(import.meta.dirname, "../../node_modules");
  const { version } = JSON.parse(
    readFileSync(join(packages, "@electric-sql/pglite/package.json"), "utf8"),
  );
  if (!emptyDatabase(version)) await makeEmptyDatabase(join(packages, ".cache/mnemograph"));
}

async function checkServer(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.end();
  } catch (cause) {
    throw new Error(
      "DATABASE_URL does not lead to a running PostgreSQL. Start one with `scripts/postgres.sh start` or " +
        "`docker compose up -d`, or unset DATABASE_URL to test on the embedded database.",
      { cause },
    );
  }
}
