import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type pg from "pg";
import { type EmbeddedPool, openEmbeddedPool } from "../../src/postgres/embedded-pool.js";
import { emptySchema, type FreshSchema, readFresh } from "./emptied-schema.js";

let embedded: EmbeddedPool | undefined;
/** The schema of the file before, emptied; undefined where none could be. */
let fresh: FreshSchema | undefined;
let inUse = false;

/** A worker's embedded database, and a schema in it that is set up and empty. */
export interface WorkerDatabase {
  readonly pool: pg.Pool;
  readonly schema: string;
}

/**
 * The embedded database of this worker, which its test files use one after another: starting one, and setting up a
 * schema, cost more than most files take. A file gets a session that knows nothing of those before it.
 *
 * @param dump path of the database to start from.
 * @param setUp makes the tables of a new schema.
 */
export async function takeWorkerDatabase(
  dump: string,
  setUp: (database: WorkerDatabase) => Promise<unknown>,
): Promise<WorkerDatabase> {
  if (inUse) {
    // A file that could not give it back may still hold its only client.
    embedded = undefined;
    fresh = undefined;
  }
  embedded ??= openEmbeddedPool({ loadDataDir: new Blob([readFileSync(dump)]) });
  inUse = true;
  const { pool } = embedded;
  const client = await pool.connect();
  await client.query("discard all");
  client.release(true);
  if (!fresh) {
    const schema = newSchemaName();
    await setUp({ pool, schema });
    fresh = await readFresh(pool, schema);
  }
  return { pool, schema: fresh.schema };
}

/** Name for a schema of a test's own. */
export function newSchemaName(): string {
  return `test_${randomUUID().slice(0, 8)}`;
}

/**
 * Ends a file's use of it.
 *
 * @throws when the file left a client checked out, for which the next file would wait in vain, or another schema.
 */
export async function giveBackWorkerDatabase({ schema }: WorkerDatabase): Promise<void> {
  if (!embedded || !fresh) return;
  const { pool } = embedded;
  if (pool.idleCount < pool.totalCount) {
    throw new Error("This file did not release its client of the embedded database.");
  }
  if (!(await emptySchema(pool, fresh).catch(() => false))) {
    await pool.query(`drop schema if exists "${schema}" cascade`);
    fresh = undefined;
  }
  const { rows } = await pool.query<{ name: string }>(
    `select nspname as name from pg_namespace
     where nspname !~ '^pg_' and nspname not in ('public', 'information_schema', 'mnemograph', $1)`,
    [fresh?.schema ?? ""],
  );
  if (rows.length > 0) {
    throw new Error(`This file left schemas behind: ${rows.map(({ name }) => name).join(", ")}.`);
  }
  inUse = false;
}
