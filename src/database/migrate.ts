import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import type { Database } from "./database.js";
import { errorCodeOf, toMemoryError } from "./database-error.js";
import { identifier } from "./identifier.js";

/** One numbered `.sql` file. */
interface Migration {
  readonly name: string;
  readonly checksum: string;
}

const directory = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Any fixed number will do; this one is "mnemogra" in ASCII, shortened to a positive bigint. */
const setupLock = "7885911234096720";

/**
 * Brings the schema up to date and returns the names of the migrations that ran.
 *
 * Safe from several processes at once: one works, the others wait and find nothing left to do. Each
 * migration is a transaction together with its record.
 *
 * @param also more set-up for the same connection, under the same lock.
 * @throws MemoryError `SCHEMA_TOO_NEW`, `MIGRATION_CHANGED`, `PERMISSION_DENIED`, `DATABASE_UNAVAILABLE`.
 */
export async function migrate(
  database: Database,
  also: (client: ClientBase) => Promise<void> = async () => {},
): Promise<string[]> {
  try {
    return await database.withClient(async (client) => {
      await client.query("select pg_advisory_lock($1::bigint)", [setupLock]);
      try {
        const applied = await migrateLocked(client, database.schemaName);
        await also(client);
        return applied;
      } finally {
        // The runner sets the search path for plain migration files; the session may be pooled.
        await client.query("reset search_path").catch(() => {});
        await client.query("select pg_advisory_unlock($1::bigint)", [setupLock]).catch(() => {});
      }
    });
  } catch (error) {
    throw toMemoryError(error, database.schemaName);
  }
}

async function migrateLocked(client: ClientBase, schemaName: string): Promise<string[]> {
  const shipped = readMigrations();
  const schema = identifier(schemaName).text;
  await ensureSchema(client, schemaName, schema);
  checkRecorded(await readRecorded(client, schema), shipped, schemaName);
  const run = await runner({
    dbClient: client,
    dir: directory,
    direction: "up",
    schema: schemaName,
    migrationsTable: "migration",
    noLock: true,
    checkOrder: true,
    log: () => {},
  });
  if (run.length > 0) await recordChecksums(client, schema, shipped);
  return run.map((migration) => migration.name);
}

function readMigrations(): Migration[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith(".sql"))
    .sort()
    .map((file) => ({
      name: file.replace(/\.sql$/, ""),
      checksum: createHash("sha256")
        // Git on Windows may have changed the line ends.
        .update(readFileSync(`${directory}/${file}`, "utf8").replaceAll("\r\n", "\n"))
        .digest("hex"),
    }));
}

/** `create schema if not exists` demands CREATE on the database even when the schema exists: look first. */
async function ensureSchema(client: ClientBase, schemaName: string, schema: string): Promise<void> {
  const found = await client.query("select from pg_catalog.pg_namespace where nspname = $1", [schemaName]);
  if (found.rowCount === 0) await client.query(`create schema ${schema}`);
}

async function readRecorded(client: ClientBase, schema: string): Promise<Migration[]> {
  try {
    const { rows } = await client.query(
      `select m.name, coalesce(c.checksum, '') as checksum
       from ${schema}.migration m left join ${schema}.migration_checksum c on c.name = m.name
       order by m.id`,
    );
    return rows;
  } catch (error) {
    if (errorCodeOf(error) === "42P01") return [];
    throw error;
  }
}

function checkRecorded(recorded: Migration[], shipped: Migration[], schemaName: string): void {
  const known = new Map(shipped.map(({ name, checksum }) => [name, checksum]));
  const unknown = recorded.find(({ name }) => !known.has(name));
  if (unknown) {
    throw new MemoryError(
      "SCHEMA_TOO_NEW",
      `Schema "${schemaName}" was set up by a newer mnemograph: it has migration ${unknown.name}, ` +
        "which this version does not know. Update the package.",
    );
  }
  const changed = recorded.find(({ name, checksum }) => checksum !== "" && known.get(name) !== checksum);
  if (changed) {
    throw new MemoryError(
      "MIGRATION_CHANGED",
      `Migration ${changed.name} of schema "${schemaName}" is not the one that was run: its file was changed. ` +
        "Reinstall the package; to change the schema, add a new migration.",
    );
  }
}

async function recordChecksums(client: ClientBase, schema: string, shipped: Migration[]): Promise<void> {
  await client.query(
    `create table if not exists ${schema}.migration_checksum (name text primary key, checksum text not null)`,
  );
  await client.query(
    `insert into ${schema}.migration_checksum (name, checksum)
     select name, checksum from unnest($1::text[], $2::text[]) as shipped (name, checksum)
     where name in (select name from ${schema}.migration)
     on conflict (name) do nothing`,
    [shipped.map(({ name }) => name), shipped.map(({ checksum }) => checksum)],
  );
}
