import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { identifier } from "./connection.js";
import { errorCodeOf } from "./database-error.js";
import {
  type Migration,
  type MigrationSet,
  migrationSets,
  type ShippedSchema,
  versionColumns,
} from "./migration-set.js";

interface InstalledSchema {
  readonly versions: Readonly<Record<MigrationSet, number | null>>;
  readonly functionsVersion: number;
  readonly compatibleFrom: number;
  readonly language: string;
}

export type SchemaState =
  | { readonly is: "empty"; readonly tables: ReadonlySet<string> }
  | {
      readonly is: "installed";
      readonly tables: ReadonlySet<string>;
      readonly installed: InstalledSchema;
    }
  | {
      readonly is: "legacy";
      readonly tables: ReadonlySet<string>;
      readonly sets: readonly MigrationSet[];
    };

type Run = Pick<ClientBase, "query">;

async function readSchema(client: Run, schemaName: string): Promise<SchemaState> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm')`,
    [schemaName],
  );
  const tables = new Set(rows.map(({ name }) => name));
  if (tables.has("before_thread") || (tables.has("meta") && tables.has("thread_task"))) {
    throw differs(
      schemaName,
      "has tables of two versions: an upgrade was run by hand and stopped half way. Restore the backup, and run " +
        "`npx mnemograph migrate`, which is one transaction.",
    );
  }
  if (tables.has("meta"))
    return { is: "installed", tables, installed: await readMeta(client, schemaName) };
  if (tables.has("migration") && tables.has("thread_task")) {
    return { is: "legacy", tables, sets: await readSetsBefore(client, schemaName, tables) };
  }
  return { is: "empty", tables };
}

async function readMeta(client: Run, schemaName: string): Promise<InstalledSchema> {
  const rows = await rowsOf(client, schemaName, "meta");
  const row = rows[0];
  if (rows.length !== 1 || row === undefined || typeof row.compatible_from !== "number") {
    throw differs(schemaName, `has a table "meta" of another program. ${anotherSchema}`);
  }
  return {
    versions: Object.fromEntries(
      migrationSets.map((set) => [set, row[versionColumns[set]]]),
    ) as InstalledSchema["versions"],
    functionsVersion: row.functions_version as number,
    compatibleFrom: row.compatible_from,
    language: row.language as string,
  };
}

const lastBefore = {
  core: { table: "migration", name: "0036_round_news" },
  vector: { table: "vector_migration", name: "0005_store" },
  isolation: { table: "isolation_migration", name: "0003_indexes" },
} as const satisfies Record<MigrationSet, { table: string; name: string }>;

async function readSetsBefore(
  client: Run,
  schemaName: string,
  tables: ReadonlySet<string>,
): Promise<MigrationSet[]> {
  const sets = migrationSets.filter((set) => tables.has(lastBefore[set].table));
  for (const set of sets) {
    const { table, name } = lastBefore[set];
    const rows = await rowsOf(client, schemaName, table);
    if (rows.some((row) => row.name === name)) continue;
    throw differs(
      schemaName,
      `has tables of an early version (migration ${rows.at(-1)?.name ?? "unknown"} of the set ${set}). Run the ` +
        "migrations of commit c44db68 first, its vectors and isolation too; then `npx mnemograph migrate`.",
    );
  }
  return sets;
}

async function rowsOf(
  client: Run,
  schemaName: string,
  table: string,
): Promise<Record<string, unknown>[]> {
  try {
    return (await client.query(`select * from ${identifier(schemaName).text}.${table}`)).rows;
  } catch (error) {
    if (errorCodeOf(error) !== "42501") throw error;
    throw new MemoryError(
      "PERMISSION_DENIED",
      `The database user may not read the table "${table}" of schema "${schemaName}": grant it the rights on all tables of it.`,
      { cause: error },
    );
  }
}

export interface WantedSchema {
  /** Sets up pgvector's extension and tables; existing ones are updated in any case. */
  readonly vectors: boolean;
  /** Sets up row-level security by tenant; permanent. @default false */
  readonly isolation?: boolean;
  /** Upgrades from before version 1; no other process may use the schema. @default false */
  readonly upgrade?: boolean;
}

/**
 * Reads only. `newer`: a newer, compatible package set up the schema.
 * @throws MemoryError `SCHEMA_DIFFERS`
 */
export async function findGap(
  client: Run,
  schemaName: string,
  shipped: ShippedSchema,
  { vectors, isolation = false, upgrade = false }: WantedSchema,
): Promise<{ state: SchemaState; newer: boolean; pending: readonly Migration[] }> {
  const state = await readSchema(client, schemaName);
  if (state.is === "legacy" && !upgrade) {
    throw differs(
      schemaName,
      "has tables of before version 1. Stop every process that works on it, back it up, and run " +
        "`npx mnemograph migrate` once.",
    );
  }
  const installed = state.is === "installed" ? state.installed : null;
  if (installed && isNewer(shipped, installed, schemaName))
    return { state, newer: true, pending: [] };
  const wanted = { core: true, vector: vectors, isolation };
  const pending = shipped.migrations.filter(({ set, version }) => {
    const last = installed?.versions[set] ?? null;
    if (last !== null) return version > last;
    return wanted[set] || (state.is === "legacy" && state.sets.includes(set));
  });
  const foreign = createdTables(pending, schemaName).find((table) => state.tables.has(table));
  if (state.is !== "legacy" && foreign !== undefined) {
    throw differs(
      schemaName,
      `has a table "${foreign}" that is not mnemograph's. ${anotherSchema}`,
    );
  }
  return { state, newer: false, pending };
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

export function createdTables(migrations: readonly Migration[], schemaName: string): string[] {
  const beginning = `create table ${identifier(schemaName).text}.`;
  return migrations
    .flatMap(({ statementsFor }) => statementsFor(schemaName))
    .filter((statement) => statement.startsWith(beginning))
    .map((statement) => /^\w+/.exec(statement.slice(beginning.length))?.[0] ?? "");
}

const anotherSchema =
  "Use a schema of its own: `schema` of createMemory, `--schema` of the command line.";

const differs = (schemaName: string, what: string): MemoryError =>
  new MemoryError("SCHEMA_DIFFERS", `Schema "${schemaName}" ${what}`);
