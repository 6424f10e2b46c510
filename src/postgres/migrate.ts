import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { identifier } from "./connection.js";
import type { Database } from "./database.js";
import { errorCodeOf, toMemoryError } from "./database-error.js";
import { coreMigrations, isolationMigrations, runMigrationSet, vectorMigrations } from "./migration-set.js";
import { recordSearchLanguage } from "./search-language.js";

/** Any fixed number will do; this one is "mnemogra" in ASCII, shortened to a positive bigint. */
const setupLock = "7885911234096720";

/** What a set-up is to include. */
export interface MigrateOptions {
  /** Whether to set up pgvector's extension and tables. */
  readonly vectors: boolean;
  /** Whether to set up row-level security by tenant; once set up, it stays. @default false */
  readonly isolation?: boolean;
  /** More set-up for the same connection, under the same lock. */
  readonly also?: (client: ClientBase) => Promise<void>;
}

/**
 * Brings the schema up to date and returns the names of the migrations that ran.
 *
 * Safe from several processes at once: one works, the others wait and find nothing left to do. Everything is one
 * transaction, so that after a failure nothing was done, and so that a pooler lends it one session.
 *
 * @throws MemoryError `SCHEMA_DIFFERS`, `PERMISSION_DENIED`, `PEER_MISSING`,
 *   `DATABASE_UNAVAILABLE`.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<string[]> {
  try {
    return await database.withClient(async (client) => {
      await client.query("begin");
      try {
        // Tables are rewritten and indexed, and another process may be at it before this one.
        await client.query("set local statement_timeout to default");
        await client.query("select pg_advisory_xact_lock($1::bigint)", [setupLock]);
        // Where tenants are isolated, what migrates rows must see them all.
        await client.query("set local mnemograph.tenant_id to '*'");
        const applied = await runMigrations(client, database, options);
        await client.query("commit");
        return applied;
      } catch (error) {
        await client.query("rollback").catch(() => {});
        throw error;
      }
    });
  } catch (error) {
    throw toMemoryError(error, database.schemaName);
  }
}

async function runMigrations(
  client: ClientBase,
  { schemaName, language, isEmbedded }: Database,
  { vectors, isolation, also }: MigrateOptions,
): Promise<string[]> {
  await ensureSchema(client, schemaName);
  const extensionSchema = vectors ? await ensureVectorExtension(client, isEmbedded) : null;
  const applied = await runMigrationSet(client, schemaName, coreMigrations);
  if (extensionSchema !== null) {
    applied.push(...(await runMigrationSet(client, schemaName, vectorMigrations, [extensionSchema])));
  }
  if (isolation) applied.push(...(await runMigrationSet(client, schemaName, isolationMigrations)));
  await recordSearchLanguage(client, schemaName, language);
  await isolateTables(client, schemaName);
  await also?.(client);
  return applied;
}

/** `create schema if not exists` demands CREATE on the database even when the schema exists: look first. */
async function ensureSchema(client: ClientBase, schemaName: string): Promise<void> {
  const found = await client.query("select from pg_catalog.pg_namespace where nspname = $1", [schemaName]);
  if (found.rowCount === 0) await client.query(`create schema ${identifier(schemaName).text}`);
}

/** Puts tables that came with a migration under the row-level security there is. */
async function isolateTables(client: ClientBase, schemaName: string): Promise<void> {
  const isolate = `${identifier(schemaName).text}.isolate_tables()`;
  const { rows } = await client.query("select to_regprocedure($1) is not null as isolated", [isolate]);
  if (rows[0]?.isolated) await client.query(`select ${isolate}`);
}

/** The schema that pgvector is installed in, installing it if need be. */
async function ensureVectorExtension(client: ClientBase, isEmbedded: boolean): Promise<string> {
  const found = await findExtensionSchema(client);
  if (found !== undefined) return found;
  try {
    await client.query("create extension vector");
  } catch (cause) {
    const denied = errorCodeOf(cause) === "42501";
    throw new MemoryError(
      denied ? "PERMISSION_DENIED" : "PEER_MISSING",
      denied
        ? "Embeddings need the extension pgvector: have an administrator run `create extension vector` in this database."
        : `Embeddings need pgvector 0.7 or later, which this ${isEmbedded ? packageOfVector : serverVector}, or create ` +
            "the memory without `embeddings`.",
      { cause },
    );
  }
  return (await findExtensionSchema(client)) ?? "public";
}

const packageOfVector = "embedded database does not have: run `npm install @electric-sql/pglite-pgvector`";
const serverVector = "server does not have: install it (https://github.com/pgvector/pgvector)";

async function findExtensionSchema(client: ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname as name from pg_catalog.pg_extension e
     join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`,
  );
  return rows[0]?.name;
}
