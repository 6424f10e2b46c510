import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openEmbeddedPool } from "../src/postgres/embedded-pool.js";

/** A pool for one benchmark run, in a schema of its own. */
export interface BenchDatabase {
  readonly name: string;
  readonly pool: pg.Pool;
  readonly schema: string;
  close(): Promise<void>;
}

/** Real PostgreSQL when `DATABASE_URL` is set, else the embedded database in a temporary folder. */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  const schema = `bench_${process.pid}`;
  const connectionString = process.env.DATABASE_URL;
  if (connectionString) {
    const pool = new pg.Pool({ connectionString });
    const { rows } = await pool.query<{ version: string }>("select split_part(version(), ' ', 2) as version");
    return {
      name: `PostgreSQL ${rows[0]?.version}`,
      pool,
      schema,
      async close() {
        await pool.query(`drop schema if exists "${schema}" cascade`);
        await pool.end();
      },
    };
  }
  const dataDir = mkdtempSync(join(tmpdir(), "mnemograph-bench-"));
  const embedded = openEmbeddedPool({ dataDir });
  return {
    name: "embedded PGlite",
    pool: embedded.pool,
    schema,
    async close() {
      await embedded.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Counts the statements that go through `pool` until it is stopped, which says how many. */
export function countStatements(pool: pg.Pool): { stop(): number } {
  let count = 0;
  const original = pg.Client.prototype.query;
  const listener = (client: pg.PoolClient) => {
    client.query = ((...args: Parameters<typeof original>) => {
      count++;
      return original.apply(client, args);
    }) as typeof original;
  };
  const release = (_: Error, client: pg.PoolClient) => Reflect.deleteProperty(client, "query");
  pool.on("acquire", listener);
  pool.on("release", release);
  return {
    stop() {
      pool.off("acquire", listener);
      pool.off("release", release);
      return count;
    },
  };
}
