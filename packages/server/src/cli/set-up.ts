import {
  type Database,
  type MigrationStatus,
  migrate,
  migrationStatus,
  setUpCheckpointer,
} from "mnemograph/contract";
import type { DatabaseFlags } from "./flags.js";
import { chooseDatabase, existingDatabase, onDatabase } from "./open-memory.js";

type SchemaParts = { readonly vectors: boolean; readonly isolation: boolean };

/** @throws MemoryError as `memory.setup()` does */
export async function migrateDatabase(flags: DatabaseFlags, parts: SchemaParts) {
  const { option, place } = chooseDatabase(flags);
  const run = (db: Database) => migrate(db, { ...parts, also: setUpCheckpointer });
  return { place, applied: await onDatabase(option, { schemaName: flags.schema }, run) };
}

export async function planMigration(
  flags: DatabaseFlags,
  parts: SchemaParts,
): Promise<MigrationStatus> {
  const plan = (db: Database) => migrationStatus(db, parts);
  return onDatabase(existingDatabase(flags).option, { schemaName: flags.schema }, plan);
}
