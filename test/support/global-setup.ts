import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { createMemory } from "../../src/create-memory.js";
import { createDatabase } from "../../src/database/database.js";
import { openEmbeddedPool } from "../../src/database/embedded-pool.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Connection string of a real server, or null: then tests run on the embedded database. */
    databaseUrl: string | null;
    /** Dump of an embedded database whose schema "mnemograph" is set up. */
    embeddedDump: string | null;
  }
}

/** Migrates the embedded database once; each test file starts from a copy. */
export default async function setup(project: TestProject): Promise<() => void> {
  const databaseUrl = process.env.DATABASE_URL || null;
  if (databaseUrl !== null) {
    await checkServer(databaseUrl);
    project.provide("databaseUrl", databaseUrl);
    project.provide("embeddedDump", null);
    return () => {};
  }
  console.log("DATABASE_URL is not set: tests of several processes and of server restarts are skipped.");
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-test-"));
  const dump = join(folder, "mnemograph.tar");
  const embedded = openEmbeddedPool({});
  await createMemory({ database: embedded.pool }).setup();
  const blob = await embedded.engine().dumpDataDir("none");
  writeFileSync(dump, Buffer.from(await blob.arrayBuffer()));
  await createDatabase(embedded.pool, { schemaName: "mnemograph" }, embedded.close).close();
  project.provide("databaseUrl", null);
  project.provide("embeddedDump", dump);
  return () => rmSync(folder, { recursive: true, force: true });
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
