import { readFileSync } from "node:fs";
import type pg from "pg";
import { type EmbeddedPool, openEmbeddedPool } from "../../src/database/embedded-pool.js";

let embedded: EmbeddedPool | undefined;

/**
 * The embedded database of this worker, which its test files use one after another: starting one costs more than
 * most files take. A file gets a session that knows nothing of those before it.
 *
 * @param dump path of the database to start from.
 */
export async function openWorkerPool(dump: string): Promise<pg.Pool> {
  embedded ??= openEmbeddedPool({ loadDataDir: new Blob([readFileSync(dump)]) });
  const client = await embedded.pool.connect();
  await client.query("discard all");
  client.release(true);
  return embedded.pool;
}

/**
 * Ends a file's use of it.
 *
 * @throws when the file left a client checked out, for which the next file would wait in vain, or a schema.
 */
export async function checkWorkerPool(): Promise<void> {
  if (!embedded) return;
  const { pool } = embedded;
  if (pool.idleCount < pool.totalCount) {
    embedded = undefined;
    throw new Error("This file did not release its client of the embedded database.");
  }
  const { rows } = await pool.query<{ name: string }>(
    `select nspname as name from pg_namespace
     where nspname !~ '^pg_' and nspname not in ('public', 'information_schema', 'mnemograph')`,
  );
  if (rows.length === 0) return;
  embedded = undefined;
  throw new Error(`This file left schemas behind: ${rows.map(({ name }) => name).join(", ")}.`);
}
