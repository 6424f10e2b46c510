import type { Database } from "./database.js";
import { errorCodeOf, toMemoryError } from "./database-error.js";
import { coreMigrations, recordedMigrations, shippedMigrations } from "./migration-set.js";

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
