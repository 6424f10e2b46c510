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
 * Safe from several processes at once: one works, the others wait and find nothing left to do. What is
 * missing runs in one transaction together with its record.
 *
 * @throws MemoryError `SCHEMA_TOO_NEW`, `MIGRATION_CHANGED`, `LANGUAGE_DIFFERS`, `PERMISSION_DENIED`, `VECTOR_MISSING`,
 *   `DATABASE_UNAVAILABLE`.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<string[]> {
  try {
    return await database.withClient(async (client) => {
      const { rows } = await client.query("select current_setting('statement_timeout') as timeout");
      // Tables are rewritten and indexed, and another process may be at it before this one.
      await client.query("set statement_timeout to default");
      await client.query("select pg_advisory_lock($1::bigint)", [setupLock]);
      try {
        // Where tenants are isolated, what migrates rows must see them all.
        await client.query("select set_config('mnemograph.tenant_id', '*', false)");
        await ensureSchema(client, database.schemaName);
        const extensionSchema = options.vectors ? await ensureVectorExtension(client) : null;
        const applied = await runMigrationSet(client, database.schemaName, coreMigrations);
        if (extensionSchema !== null) {
          const set = vectorMigrations;
          applied.push(...(await runMigrationSet(client, database.schemaName, set, [extensionSchema])));
        }
        if (options.isolation) {
          applied.push(...(await runMigrationSet(client, database.schemaName, isolationMigrations)));
        }
        await recordSearchLanguage(client, database.schemaName, database.language);
        await isolateTables(client, database.schemaName);
        await options.also?.(client);
        return applied;
      } finally {
        // The session goes back to a pool, perhaps the caller's; `also` may have left a transaction open.
        await client.query("rollback").catch(() => {});
        await client
          .query(
            `select set_config('mnemograph.tenant_id', '', false), set_config('statement_timeout', $1, false),
               pg_advisory_unlock($2::bigint)`,
            [rows[0].timeout, setupLock],
          )
          .catch(() => {});
      }
    });
  } catch (error) {
    throw toMemoryError(error, database.schemaName);
  }
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
async function ensureVectorExtension(client: ClientBase): Promise<string> {
  const found = await findExtensionSchema(client);
  if (found !== undefined) return found;
  try {
    await client.query("create extension vector");
  } catch (cause) {
    const denied = errorCodeOf(cause) === "42501";
    throw new MemoryError(
      denied ? "PERMISSION_DENIED" : "VECTOR_MISSING",
      denied
        ? "Embeddings need the extension pgvector: have an administrator run `create extension vector` in this database."
        : "Embeddings need pgvector 0.7 or later, which this server does not have: install it " +
            "(https://github.com/pgvector/pgvector), or create the memory without `embeddings`.",
      { cause },
    );
  }
  return (await findExtensionSchema(client)) ?? "public";
}

async function findExtensionSchema(client: ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname as name from pg_catalog.pg_extension e
     join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`,
  );
  return rows[0]?.name;
}
