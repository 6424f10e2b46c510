import { readFileSync } from "node:fs";
import type pg from "pg";
import { type EmbeddedPool, openEmbeddedPool } from "../../src/postgres/embedded-pool.js";

let embedded: EmbeddedPool | undefined;
let inUse = false;

/**
 * The embedded database of this worker, which its test files use one after another: starting one costs more than
 * most files take. A file gets a session that knows nothing of those before it.
 *
 * @param dump path of the database to start from.
 */
export async function takeWorkerPool(dump: string): Promise<pg.Pool> {
  // A file that could not give it back may still hold its only client.
  if (inUse) embedded = undefined;
  embedded ??= openEmbeddedPool({ loadDataDir: new Blob([readFileSync(dump)]) });
  inUse = true;
  const client = await embedded.pool.connect();
  await client.query("discard all");
  client.release(true);
  return embedded.pool;
}

/**
 * Ends a file's use of it.
 *
 * @param schema of the file, which is dropped.
 * @throws when the file left a client checked out, for which the next file would wait in vain, or another schema.
 */
export async function giveBackWorkerPool(schema: string): Promise<void> {
  if (!embedded) return;
  const { pool } = embedded;
  if (pool.idleCount < pool.totalCount) {
    throw new Error("This file did not release its client of the embedded database.");
  }
  await pool.query(`drop schema "${schema}" cascade`);
  const { rows } = await pool.query<{ name: string }>(
    `select nspname as name from pg_namespace
     where nspname !~ '^pg_' and nspname not in ('public', 'information_schema', 'mnemograph')`,
  );
  if (rows.length > 0) {
    throw new Error(`This file left schemas behind: ${rows.map(({ name }) => name).join(", ")}.`);
  }
  inUse = false;
}
