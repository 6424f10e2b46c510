import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { identifier } from "./connection.js";
import type { Database } from "./database.js";
import { errorCodeOf, toMemoryError } from "./database-error.js";
import { migrationFiles } from "./migration-files.js";

/** A folder of numbered `.sql` files with a table that says which of them ran. */
export interface MigrationSet {
  /** Its folder in `migrations/`; "" is that itself. */
  readonly folder: "" | "vector" | "isolation";
  readonly table: string;
}

/** What every memory needs. */
export const coreMigrations: MigrationSet = { folder: "", table: "migration" };

/** What embeddings need on top: pgvector. */
export const vectorMigrations: MigrationSet = { folder: "vector", table: "vector_migration" };

/** What isolating tenants by row-level security needs on top. */
export const isolationMigrations: MigrationSet = { folder: "isolation", table: "isolation_migration" };

/** One numbered `.sql` file. */
interface Migration {
  readonly name: string;
  readonly checksum: string;
}

/** The files of a set, in order, with what they do. */
function shippedMigrations({ folder }: MigrationSet): (Migration & { readonly statements: string })[] {
  return migrationFiles(folder).map(({ name, statements }) => ({
    ...{ name, statements },
    checksum: createHash("sha256").update(statements).digest("hex"),
  }));
}

/**
 * Runs what is missing of `set` on `client`, whose transaction holds the set-up lock, with its record, and returns the
 * names.
 *
 * @param searchPath schemas whose types the files may use, besides the one they create tables in.
 * @throws MemoryError `SCHEMA_DIFFERS`
 */
export async function runMigrationSet(
  client: ClientBase,
  schemaName: string,
  set: MigrationSet,
  searchPath: readonly string[] = [],
): Promise<string[]> {
  const shipped = shippedMigrations(set);
  const schema = identifier(schemaName).text;
  await ensureRecords(client, schemaName, set);
  const recorded = await recordedMigrations(client, schemaName, set);
  checkRecorded(recorded, shipped, schemaName);
  const applied = new Set(recorded.map(({ name }) => name));
  const missing = shipped.filter(({ name }) => !applied.has(name));
  const path = [schemaName, ...searchPath].map((name) => identifier(name).text);
  const before = await client.query<{ path: string }>("select current_setting('search_path') as path");
  await client.query(`set local search_path to ${path.join(", ")}`);
  for (const { name, statements } of missing) {
    await client.query(statements);
    await client.query(`insert into ${schema}.${set.table} (name, run_on) values ($1, now())`, [name]);
  }
  await recordChecksums(client, schema, set, shipped);
  await client.query("select set_config('search_path', $1, true)", [before.rows[0]?.path]);
  return missing.map(({ name }) => name);
}

/** The migrations of `set` that ran; their checksum is '' where it was not kept. */
async function recordedMigrations(
  client: Pick<ClientBase, "query">,
  schemaName: string,
  set: MigrationSet,
): Promise<Migration[]> {
  const schema = identifier(schemaName).text;
  const { rows } = await client.query(
    `select m.name, coalesce(c.checksum, '') as checksum
     from ${schema}.${set.table} m left join ${schema}.migration_checksum c on c.name = m.name
     order by m.id`,
  );
  return rows;
}

/**
 * The tables of what was run. `if not exists` demands CREATE even when they do, which a role for daily work need not
 * have.
 */
async function ensureRecords(client: ClientBase, schemaName: string, set: MigrationSet): Promise<void> {
  const tables = {
    [set.table]: "(id serial primary key, name varchar(255) not null, run_on timestamp not null)",
    migration_checksum: "(name text primary key, checksum text not null)",
  };
  const { rows } = await client.query<{ tablename: string }>(
    "select tablename from pg_catalog.pg_tables where schemaname = $1",
    [schemaName],
  );
  const found = new Set(rows.map((row) => row.tablename));
  for (const [table, columns] of Object.entries(tables)) {
    if (!found.has(table))
      await client.query(`create table ${identifier(schemaName).text}.${table} ${columns}`);
  }
}

function checkRecorded(recorded: Migration[], shipped: Migration[], schemaName: string): void {
  const known = new Map(shipped.map(({ name, checksum }) => [name, checksum]));
  const unknown = recorded.find(({ name }) => !known.has(name));
  if (unknown) {
    throw new MemoryError(
      "SCHEMA_DIFFERS",
      `Schema "${schemaName}" was set up by a newer mnemograph: it has migration ${unknown.name}, ` +
        "which this version does not know. Update the package.",
    );
  }
  const changed = recorded.find(({ name, checksum }) => checksum !== "" && known.get(name) !== checksum);
  if (changed) {
    throw new MemoryError(
      "SCHEMA_DIFFERS",
      `Migration ${changed.name} of schema "${schemaName}" is not the one that was run: its file was changed. ` +
        "Reinstall the package; to change the schema, add a new migration.",
    );
  }
}

async function recordChecksums(
  client: ClientBase,
  schema: string,
  set: MigrationSet,
  shipped: Migration[],
): Promise<void> {
  await client.query(
    `insert into ${schema}.migration_checksum (name, checksum)
     select name, checksum from unnest($1::text[], $2::text[]) as shipped (name, checksum)
     where name in (select name from ${schema}.${set.table})
     on conflict (name) do nothing`,
    [shipped.map(({ name }) => name), shipped.map(({ checksum }) => checksum)],
  );
}

/** Names of migrations, each list in order. */
export interface MigrationStatus {
  readonly applied: string[];
  readonly pending: string[];
  /** Applied, but not known to this version. */
  readonly unknown: string[];
}

/**
 * Which migrations a schema has and which it lacks; without one, it lacks all.
 *
 * @throws MemoryError `DATABASE_UNAVAILABLE`, `PERMISSION_DENIED`, `DATABASE_ERROR`
 */
export async function migrationStatus(database: Database): Promise<MigrationStatus> {
  const shipped = shippedMigrations(coreMigrations).map(({ name }) => name);
  const applied = await appliedMigrations(database);
  return {
    applied,
    pending: shipped.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !shipped.includes(name)),
  };
}

async function appliedMigrations(database: Database): Promise<string[]> {
  try {
    return await database.withClient(async (client) => {
      const recorded = await recordedMigrations(client, database.schemaName, coreMigrations);
      return recorded.map(({ name }) => name);
    });
  } catch (error) {
    // No table, or no schema.
    if (["42P01", "3F000"].includes(errorCodeOf(error))) return [];
    throw toMemoryError(error, database.schemaName);
  }
}
