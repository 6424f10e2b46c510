import { MemoryError } from "../errors.js";
import { identifier } from "./connection.js";
import { errorCodeOf } from "./database-error.js";
import {
  type Migration,
  type MigrationSet,
  migrationSets,
  type ShippedSchema,
  setVersionColumns,
  shippedSchema,
} from "./migration-set.js";
import type { Ask } from "./session-settings.js";

export interface SchemaPlace {
  readonly schemaName: string;
  /** The folder of an embedded database. */
  readonly dataDir?: string | undefined;
}

interface InstalledSchema {
  readonly versions: Readonly<Record<MigrationSet, number | null>>;
  /** The digest of the baseline that made the schema. Unknown in schemas of early checkouts. */
  readonly baseline: string | undefined;
  readonly functionsVersion: number;
  readonly compatibleFrom: number;
  readonly language: string;
}

export interface SchemaState {
  readonly tables: ReadonlySet<string>;
  /** null: nothing is set up. */
  readonly installed: InstalledSchema | null;
}

async function readSchema(ask: Ask, schemaName: string): Promise<SchemaState> {
  const { rows } = await ask({
    text: `select c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm')`,
    values: [schemaName],
  });
  const tables = new Set(rows.map(({ name }) => name as string));
  return { tables, installed: tables.has("meta") ? await readMeta(ask, schemaName) : null };
}

async function readMeta(ask: Ask, schemaName: string): Promise<InstalledSchema> {
  const text = `select * from ${identifier(schemaName).text}.meta`;
  const { rows } = await ask({ text }).catch((cause: unknown) => {
    if (errorCodeOf(cause) !== "42501") throw cause;
    throw new MemoryError(
      "PERMISSION_DENIED",
      `The database user may not read the table "meta" of schema "${schemaName}": grant it the rights on all tables of it.`,
      { cause },
    );
  });
  const row = rows[0];
  if (rows.length !== 1 || typeof row.compatible_from !== "number")
    throw foreignTable(schemaName, "meta");
  return {
    versions: Object.fromEntries(
      migrationSets.map((set) => [set, row[setVersionColumns[set]]]),
    ) as InstalledSchema["versions"],
    baseline: row.baseline,
    functionsVersion: row.functions_version,
    compatibleFrom: row.compatible_from,
    language: row.language,
  };
}

export interface WantedSchema {
  /** Sets up pgvector's extension and tables; existing ones are updated in any case. */
  readonly vectors: boolean;
  /** Sets up row-level security by tenant; permanent. @default false */
  readonly isolation?: boolean;
}

/**
 * Reads only. `newer`: a newer, compatible package set up the schema.
 * @throws MemoryError `SCHEMA_DIFFERS`, `PERMISSION_DENIED`
 */
export async function findGap(
  ask: Ask,
  place: SchemaPlace,
  shipped: ShippedSchema,
  { vectors, isolation = false }: WantedSchema,
): Promise<{ state: SchemaState; newer: boolean; pending: readonly Migration[] }> {
  const { schemaName } = place;
  const state = await readSchema(ask, schemaName);
  const { installed, tables } = state;
  if (installed) {
    const newer = isNewer(shipped, installed, schemaName);
    // Packages that are compatible share the baseline.
    if (installed.baseline !== shipped.baseline) throw otherBaseline(place, installed);
    if (newer) return { state, newer, pending: [] };
  }
  const wanted = { core: true, vector: vectors, isolation };
  const pending = shipped.migrations.filter(({ set, version }) => {
    const last = installed?.versions[set] ?? null;
    return last === null ? wanted[set] : version > last;
  });
  const foreign = createdTables(pending, schemaName).find((table) => tables.has(table));
  if (foreign !== undefined) throw foreignTable(schemaName, foreign);
  return { state, newer: false, pending };
}

/**
 * Checks that this package may work on the schema. Pending migrations do not matter.
 * @throws MemoryError `SETUP_REQUIRED`, `SCHEMA_DIFFERS`, `PERMISSION_DENIED`
 */
export async function requireSchema(ask: Ask, place: SchemaPlace): Promise<void> {
  const { state } = await findGap(ask, place, shippedSchema(), { vectors: false });
  if (state.installed) return;
  throw new MemoryError(
    "SETUP_REQUIRED",
    `Schema "${place.schemaName}" is not set up. Run \`await memory.setup()\` or \`${migrateCommandLine(place)}\` once.`,
  );
}

function isNewer(shipped: ShippedSchema, installed: InstalledSchema, schemaName: string): boolean {
  const newest = Math.max(...shipped.migrations.map(({ version }) => version));
  const found = Math.max(...Object.values(installed.versions).map((version) => version ?? 0));
  if (found <= newest) return false;
  if (installed.compatibleFrom <= newest) return true;
  throw differs(
    schemaName,
    `was set up by a newer mnemograph: it has version ${found}, and this package knows ${newest}. Update the package.`,
  );
}

function createdTables(migrations: readonly Migration[], schemaName: string): string[] {
  const beginning = `create table ${identifier(schemaName).text}.`;
  return migrations
    .flatMap(({ statementsFor }) => statementsFor(schemaName))
    .filter((statement) => statement.startsWith(beginning))
    .map((statement) => /^\w+/.exec(statement.slice(beginning.length))?.[0] ?? "");
}

const setFlags = { core: "", vector: " --vectors", isolation: " --isolation" };

/** The command that does `words` in a schema, without the connection string; to paste into a shell. */
export function commandAt({ schemaName, dataDir }: SchemaPlace, words: string): string {
  const schema = schemaName === "mnemograph" ? "" : ` --schema ${shellWord(schemaName)}`;
  const folder = dataDir === undefined ? "" : ` --data-dir ${shellWord(dataDir)}`;
  return `npx @mnemograph/server ${words}${schema}${folder}`;
}

const shellWord = (word: string): string =>
  /^[\p{L}\p{N}_./:\\-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The same, to set up `sets`. */
export const migrateCommandLine = (
  place: SchemaPlace,
  sets: readonly MigrationSet[] = [],
): string => commandAt(place, `migrate${sets.map((set) => setFlags[set]).join("")}`);

function otherBaseline(place: SchemaPlace, { versions }: InstalledSchema): MemoryError {
  const { schemaName, dataDir } = place;
  const sets = migrationSets.filter((set) => versions[set] !== null);
  const remove =
    dataDir === undefined
      ? `run the SQL \`drop schema ${identifier(schemaName).text} cascade\``
      : `delete the folder ${dataDir}`;
  return differs(
    schemaName,
    "was made by another development version and cannot be upgraded: export what you need with that version, then " +
      `${remove} and run \`${migrateCommandLine(place, sets)}\`.`,
  );
}

const foreignTable = (schemaName: string, table: string): MemoryError =>
  differs(
    schemaName,
    `has a table "${table}" that this package did not make: choose another schema (\`schema\` of createMemory), and run ` +
      "`npx @mnemograph/server migrate --schema NAME`.",
  );

const differs = (schemaName: string, what: string): MemoryError =>
  new MemoryError("SCHEMA_DIFFERS", `Schema "${schemaName}" ${what}`);
