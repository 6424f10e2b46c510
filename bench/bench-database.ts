import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openEmbeddedPool } from "../src/postgres/embedded-pool.js";

/** A database for one benchmark run, in schemas of its own. */
export interface BenchDatabase {
  /** What it is, with its version and that of pgvector. */
  readonly name: string;
  readonly pool: pg.Pool;
  /**
   * What `createMemory` is given: a connection string where there is one, because pools made by the
   * library keep plans.
   */
  readonly source: pg.Pool | string;
  /** The run's schema; others of the run have names that begin with it and "_". */
  readonly schema: string;
  /**
   * The connection string, whose `application_name` is the schema; null with the embedded database.
   */
  readonly server: string | null;
  /** Drops the schemas and ends the pool. */
  close(): Promise<void>;
}

/** Real PostgreSQL when `DATABASE_URL` is set, else the embedded database in a temporary folder. */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  const server = process.env.DATABASE_URL;
  return server ? openServer(server) : openEmbedded();
}

async function openServer(connectionString: string): Promise<BenchDatabase> {
  const schema = `bench_${process.pid}`;
  const url = new URL(connectionString);
  url.searchParams.set("application_name", schema);
  const server = url.href;
  const pool = new pg.Pool({ connectionString: server });
  return {
    name: `PostgreSQL ${await versions(pool)}`,
    pool,
    source: server,
    schema,
    server,
    async close() {
      await pool.query(`do $$ declare name text; begin
        for name in select nspname from pg_namespace where nspname = '${schema}' or starts_with(nspname, '${schema}_') loop
          execute format('drop schema %I cascade', name);
        end loop; end $$`);
      await pool.end();
    },
  };
}

async function openEmbedded(): Promise<BenchDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), "mnemograph-bench-"));
  const { pool, close } = openEmbeddedPool({ dataDir });
  return {
    name: `PGlite (PostgreSQL ${await versions(pool)})`,
    pool,
    source: pool,
    schema: "bench",
    server: null,
    async close() {
      await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function versions(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ server: string; vector: string | null }>(
    `select current_setting('server_version') as server,
       (select default_version from pg_available_extensions where name = 'vector') as vector`,
  );
  return `${rows[0]?.server.split(" ")[0]}, pgvector ${rows[0]?.vector ?? "not there"}`;
}

/**
 * Reads the dead rows out and counts the rows again, in every table of `schema`: as autovacuum does
 * in time.
 */
export async function vacuumSchema(pool: pg.Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ tables: string | null }>(
    "select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables from pg_tables where schemaname = $1",
    [schema],
  );
  if (rows[0]?.tables) await pool.query(`vacuum analyze ${rows[0].tables}`);
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
