import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { clipped } from "../text/storable-text.js";
import { distributesSchemas } from "./citus.js";
import { identifier } from "./connection.js";
import type { Database } from "./database.js";
import { errorCodeOf, lacksPgvector, toMemoryError } from "./database-error.js";
import {
  compatibleFrom,
  type Migration,
  type MigrationSet,
  type ShippedSchema,
  setVersionColumns,
  shippedSchema,
} from "./migration-set.js";
import { retryOn } from "./retry.js";
import { findGap, type SchemaState, type WantedSchema } from "./schema-state.js";
import { askOf } from "./session-settings.js";

const setupLock = "7885911234096720";

/** Later statements queue behind a waiting migration, so it stops waiting and tries again. */
const lockTimeoutMs = 2_000;
const lockTries = 30;
/**
 * Two processes build one index: "tuple concurrently updated", a deadlock, an index that the other
 * dropped.
 */
const buildRaces = ["XX000", "40P01", "42704"];

export interface MigrateOptions extends WantedSchema {
  /** Runs in each transaction. */
  readonly also?: (client: ClientBase, schemaName: string) => Promise<void>;
  readonly shipped?: ShippedSchema;
}

/**
 * Brings the schema up to date and returns the applied migrations. Processes may run it
 * concurrently.
 * @throws MemoryError `SCHEMA_DIFFERS`, `PERMISSION_DENIED`, `PEER_MISSING`, `BUSY`,
 * `DATABASE_UNAVAILABLE`
 */
export async function migrate(database: Database, given: MigrateOptions): Promise<string[]> {
  const { schemaName } = database;
  const options = { shipped: shippedSchema(), ...given };
  const applied: string[] = [];
  try {
    return await database.withClient(async (client) => {
      for (;;) {
        const migrateOnce = () => migrateInTransaction(client, database, options);
        const { done, concurrent } = await retryOn(["55P03"], migrateOnce, {
          most: lockTries,
          stepMs: 100,
          busy:
            `A table of schema "${schemaName}" stayed locked by another transaction (pg_stat_activity shows which), so ` +
            "this step was rolled back. Run it again when that has ended.",
        });
        applied.push(...done);
        if (concurrent === undefined) return applied;
        const build = () => buildConcurrently(client, database, concurrent);
        await retryOn(buildRaces, build, {
          most: 5,
          stepMs: 200,
          busy: `Several processes migrate schema "${schemaName}" at once. Run \`npx @mnemograph/server migrate\` once, and start them again.`,
        });
        applied.push(concurrent.name);
      }
    });
  } catch (error) {
    throw toMemoryError(error, schemaName);
  }
}

type Options = MigrateOptions & { readonly shipped: ShippedSchema };

async function migrateInTransaction(client: ClientBase, database: Database, options: Options) {
  await client.query("begin");
  try {
    await client.query("set local statement_timeout to default");
    await client.query("select pg_advisory_xact_lock($1::bigint)", [setupLock]);
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    // Migrated rows must be visible under row-level security.
    await client.query("set local mnemograph.tenant_id = '*'");
    const migrated = await runMigrations(client, database, options);
    await options.also?.(client, database.schemaName);
    await client.query("commit");
    return migrated;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Returns the names of those that ran, and the next one if it cannot run in a transaction. */
async function runMigrations(client: ClientBase, database: Database, options: Options) {
  const { schemaName } = database;
  const { shipped, vectors } = options;
  const { state, newer, pending } = await findGap(askOf(client), database, shipped, options);
  const { installed } = state;
  if (newer) return { done: [], concurrent: undefined };
  if (database.language !== installed?.language) await requireLanguage(client, database.language);
  // Nobody uses new tables yet, so their indexes are built in the same transaction.
  const count = installed ? firstConcurrent(pending, schemaName) : pending.length;
  const transactional = pending.slice(0, count);
  const run = async (statements: readonly string[]) => {
    for (const statement of statements)
      await client.query(
        concurrently.test(statement) ? statement.replace(" concurrently", "") : statement,
      );
  };
  const runSets = (...sets: MigrationSet[]) => {
    const chosen = transactional.filter(({ set }) => sets.includes(set));
    return run(chosen.flatMap(({ statementsFor }) => statementsFor(schemaName)));
  };

  if (pending.some(({ set }) => set === "isolation")) await refuseIsolationOnCitus(client);
  if (!installed) await ensureSchema(client, database);
  const addsVectors = transactional.some(({ set }) => set === "vector");
  if (vectors || addsVectors) {
    const extensionSchema = await ensureVectorExtension(client);
    await client.query(`set local search_path to ${identifier(extensionSchema).text}`);
  }
  await runSets("core", "vector");
  const hasOldFunctions = (installed?.functionsVersion ?? 0) < shipped.functions.version;
  if (hasOldFunctions || addsVectors) {
    const vectorSchema = (await findExtensionSchema(client)) ?? "public";
    await run(shipped.functions.statementsFor(schemaName, vectorSchema));
  }
  await runSets("isolation");
  if (transactional.length > 0 || hasOldFunctions)
    await recordMigrations(client, database, state, { ...shipped, migrations: transactional });
  await client.query("set local search_path to default");
  if (installed) await updateLanguage(client, database, installed.language);
  return { done: transactional.map(({ name }) => name), concurrent: pending[count] };
}

// These statements cannot run in a transaction; the group is the index name.
const concurrently =
  /^(?:create (?:unique )?index|drop index) concurrently (?:if (?:not )?exists )?(?:"[^"]*"\.)?(\w+)/;

function firstConcurrent(pending: readonly Migration[], schemaName: string): number {
  const isConcurrent = (statement: string) => concurrently.test(statement);
  const found = pending.findIndex(({ statementsFor }) =>
    statementsFor(schemaName).some(isConcurrent),
  );
  return found < 0 ? pending.length : found;
}

async function buildConcurrently(
  client: ClientBase,
  { schemaName, schema: { text: schema } }: Database,
  migration: Migration,
): Promise<void> {
  const statements = migration.statementsFor(schemaName);
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_catalog.pg_index i
     join pg_catalog.pg_class c on c.oid = i.indexrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and not i.indisvalid and c.relname = any ($2)`,
    [schemaName, statements.map((statement) => concurrently.exec(statement)?.[1] ?? "")],
  );
  for (const { name } of rows)
    await client.query(`drop index concurrently if exists ${schema}.${identifier(name).text}`);
  for (const statement of statements) await client.query(statement);
  await client.query(
    `update ${schema}.meta set ${setVersionColumns[migration.set]} = ${migration.version}`,
  );
}

/** Records the versions, and isolates tables that are new. */
async function recordMigrations(
  client: ClientBase,
  { schema: { text: schema }, language }: Database,
  { installed }: SchemaState,
  { migrations, functions, baseline }: ShippedSchema,
): Promise<void> {
  if (!installed) {
    const columns = "version, functions_version, compatible_from, baseline, language";
    const insert = `insert into ${schema}.meta (${columns}) values (0, 0, 0, $1, $2)`;
    await client.query(insert, [baseline, language]);
  }
  const versions = new Map<string, number>();
  versions.set("functions_version", functions.version);
  versions.set("compatible_from", compatibleFrom);
  for (const { set, version } of migrations) versions.set(setVersionColumns[set], version);
  const assigned = [...versions].map(([column, version]) => `${column} = ${version}`);
  await client.query(`update ${schema}.meta set ${assigned.join(", ")}`);
  if (installed?.versions.isolation || versions.has(setVersionColumns.isolation))
    await client.query(`select ${schema}.isolate_tables()`);
}

/** With a misspelt one, no message could be recorded and no question answered. */
async function requireLanguage(client: ClientBase, language: string): Promise<void> {
  try {
    await client.query("select $1::regconfig", [language]);
  } catch (cause) {
    // Of its own: a text that is no name, or a name of nothing.
    if (!/^(?:22|42)/.test(errorCodeOf(cause))) throw cause;
    throw new MemoryError(
      "INVALID_INPUT",
      `retrieval.language is "${clipped(language, 60)}", and this database has no text search configuration of that name. ` +
        '`select cfgname from pg_ts_config` lists them; "simple" is for languages without one.',
      { cause },
    );
  }
}

async function updateLanguage(
  client: ClientBase,
  { schemaName, schema: { text: schema }, language }: Database,
  recorded: string,
): Promise<void> {
  if (recorded === language) return;
  const { rowCount } = await client.query(
    `update ${schema}.meta set language = $1
     where not exists (select from ${schema}.message_term) and not exists (select from ${schema}.memory_term)`,
    [language],
  );
  if (rowCount === 1) return;
  throw new MemoryError(
    "SCHEMA_DIFFERS",
    `Words of schema "${schemaName}" are indexed with the language "${recorded}", and retrieval.language is ` +
      `"${language}": searches would miss them. Configure "${recorded}"; or export, and import into a schema that was ` +
      "set up with the other language.",
  );
}

async function refuseIsolationOnCitus(client: ClientBase): Promise<void> {
  if (!(await distributesSchemas(askOf(client)))) return;
  throw new MemoryError(
    "INVALID_INPUT",
    'isolation: "rls" does not work on Citus: it carries rows by COPY, which row-level security refuses. ' +
      "Give each tenant a schema, or rely on scopes.",
  );
}

/** `create schema if not exists` requires CREATE on the database even for an existing schema. */
async function ensureSchema(client: ClientBase, { schemaName, schema }: Database): Promise<void> {
  const text = "select from pg_catalog.pg_namespace where nspname = $1";
  const { rowCount } = await client.query(text, [schemaName]);
  if (rowCount === 0) await client.query(`create schema ${schema.text}`);
}

async function ensureVectorExtension(client: ClientBase): Promise<string> {
  const found = await findExtensionSchema(client);
  if (found !== undefined) {
    // Loads the library, which may have been uninstalled.
    await client.query(`select '[1]'::${identifier(found).text}.vector`);
    return found;
  }
  try {
    await client.query("create extension vector");
  } catch (cause) {
    if (errorCodeOf(cause) !== "42501")
      throw new MemoryError("PEER_MISSING", lacksPgvector, { cause });
    const how = "have an administrator run `create extension vector` in this database";
    throw new MemoryError("PERMISSION_DENIED", `Embeddings need the extension pgvector: ${how}.`, {
      cause,
    });
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
