import { identifier } from "./connection.js";
import type { Database } from "./database.js";
import { toMemoryError } from "./database-error.js";
import type { MigrateOptions } from "./migrate.js";
import { type LockedTable, locksOf } from "./migration-locks.rule.js";
import { type MigrationSet, migrationSets, shippedSchema } from "./migration-set.js";
import { findGap } from "./schema-state.js";
import { askOf } from "./session-settings.js";

interface SetStatus {
  readonly set: MigrationSet;
  readonly version: number | null;
  readonly pending: readonly string[];
}

export interface MigrationStatus {
  readonly sets: readonly SetStatus[];
  readonly functions: { readonly version: number | null; readonly shipped: number };
  readonly newer: boolean;
  readonly locks: readonly (LockedTable & {
    readonly migration: string;
    readonly rows: number | null;
  })[];
}

/**
 * Describes what `migrate` would do; changes nothing.
 * @throws MemoryError as `migrate`, except `BUSY`
 */
export async function migrationStatus(
  database: Database,
  options: Omit<MigrateOptions, "also"> = { vectors: false },
): Promise<MigrationStatus> {
  const { schemaName } = database;
  const shipped = options.shipped ?? shippedSchema();
  try {
    return await database.withClient(async (client) => {
      const { state, newer, pending } = await findGap(askOf(client), database, shipped, options);
      const { installed, tables } = state;
      const schema = identifier(schemaName).text;
      const locks = pending
        .flatMap(({ name, statementsFor }) =>
          locksOf(statementsFor(schemaName), schema).map((lock) => ({ migration: name, ...lock })),
        )
        .filter(({ table }) => tables.has(table));
      const { rows } = await client.query<{ table: string; rows: number }>(
        `select c.relname as table, c.reltuples::float8 as rows
         from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
         where c.relname = any ($2)`,
        [schemaName, locks.map(({ table }) => table)],
      );
      const counted = new Map(rows.map(({ table, rows }) => [table, rows < 0 ? null : rows]));
      return {
        sets: migrationSets.map((set) => ({
          set,
          version: installed?.versions[set] ?? null,
          pending: pending.filter((migration) => migration.set === set).map(({ name }) => name),
        })),
        functions: {
          version: installed?.functionsVersion ?? null,
          shipped: shipped.functions.version,
        },
        newer,
        locks: locks.map((lock) => ({ ...lock, rows: counted.get(lock.table) ?? null })),
      };
    });
  } catch (error) {
    throw toMemoryError(error, schemaName);
  }
}
