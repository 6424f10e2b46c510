import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type pg from "pg";
import { openEmbeddedPool } from "../../src/postgres/embedded-pool.js";
import { emptySchema, type FreshSchema, readFresh } from "./emptied-schema.js";

let embedded: ReturnType<typeof openEmbeddedPool> | undefined;
/** The emptied schema of the previous file, if it could be emptied. */
let fresh: FreshSchema | undefined;
let inUse = false;

/** A worker's embedded database, and a schema in it that is set up and empty. */
export interface WorkerDatabase {
  readonly pool: pg.Pool;
  readonly schema: string;
}

/**
 * The embedded database of this worker, in a new session. Test files use it one after another,
 * because to start a database and set up a schema takes longer than most files.
 *
 * @param dump path of the database to start from.
 */
export async function takeWorkerDatabase(
  dump: string,
  setUp: (database: WorkerDatabase) => Promise<unknown>,
): Promise<WorkerDatabase> {
  if (inUse) {
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

export function newSchemaName(): string {
  return `test_${randomUUID().slice(0, 8)}`;
}

/**
 * Ends a file's use of the worker's database.
 *
 * @throws when the file left a client checked out, or another schema.
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
